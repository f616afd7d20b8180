package proxy

import (
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// level is how grave a log line is, or the least grave that is wanted: an index
// into the specification's list (2025-11-25, Logging, Log Levels).
type level int8

const (
	everything level = 0 // debug and up
	info       level = 1
	warning    level = 3
	gravest    level = 7
	silent     level = 8 // nothing
)

func levels() [8]string {
	return [8]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// parseLevel reads a level of the specification.
func parseLevel(name string) (level, bool) {
	all := levels()
	i := slices.Index(all[:], name)
	return level(i), i >= 0 //nolint:gosec // at most 7
}

// gravity reads the level of a log line; one that has none is grave enough for
// everybody.
func gravity(params json.RawMessage) level {
	at, err := rawjson.Field(params, "level")
	if err != nil {
		return gravest
	}
	name, _ := rawjson.String(params, at)
	if l, ok := parseLevel(name); ok {
		return l
	}
	return gravest
}

const logLevelMeta = "io.modelcontextprotocol/logLevel"
