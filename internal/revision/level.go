package revision

import (
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Level is the severity of a log message, or the least severe that is wanted: an
// index into [LogLevels].
type Level int8

// Levels with a meaning of their own here. LevelNone wants no message.
const (
	LevelDebug     Level = 0
	LevelInfo      Level = 1
	LevelWarning   Level = 3
	LevelEmergency Level = 7
	LevelNone      Level = 8
)

// String returns the specification's name, "none" for LevelNone.
func (l Level) String() string {
	if all := LogLevels(); int(l) < len(all) {
		return all[l]
	}
	return "none"
}

// ParseLevel reads a level by the specification's name.
func ParseLevel(name string) (l Level, ok bool) {
	i := slices.Index(LogLevels(), name)
	return Level(i), i >= 0 //nolint:gosec // at most 7
}

// LevelOf reads the level of a log message; one without a level is severe enough for
// everybody.
func LevelOf(params json.RawMessage) Level {
	name, _ := rawjson.FieldString(params, "level")
	if l, ok := ParseLevel(name); ok {
		return l
	}
	return LevelEmergency
}
