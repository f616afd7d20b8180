package cli

import (
	"strings"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/nearest"
)

// nearestNames is how many names a suggestion has.
const nearestNames = 3

// didYouMean returns a suggestion, or "" when nothing is close.
func didYouMean(name string, known []string) string {
	near := nearest.Names(name, known, nearestNames)
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + orList(near) + "?"
}

// orList returns "a, b or c".
func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// unknownName returns the error for the name of a tool, prompt or server that does
// not exist. list is the command that shows those that do.
func unknownName(what, name string, known []string, list string) *Error {
	e := usagef("%s %s", what, name)
	parts := []string{}
	if s := didYouMean(name, known); s != "" {
		parts = append(parts, s)
	}
	if list != "" {
		parts = append(parts, "see "+list)
	}
	e.Remedy = strings.Join(parts, " ")
	return e
}

// serverNames returns the configured servers, in the order of the file; none without
// a file.
func (env *environment) serverNames() ([]string, error) {
	return env.serverNamesIn(env.settings.ConfigPath)
}

// serverNamesAt is serverNames before the flags are parsed: words may hold a
// --config.
func (env *environment) serverNamesAt(flags flagSets, words []string) ([]string, error) {
	path := env.settings.ConfigPath
	if v, ok := flags.value(words, "config"); ok {
		path = v
	}
	return env.serverNamesIn(path)
}

func (env *environment) serverNamesIn(path string) ([]string, error) {
	if path == "" {
		var err error
		if path, err = config.Path(env.getenv); err != nil {
			return nil, err
		}
	}
	file, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	env.loaded, env.loadedPath = file, path
	var names []string
	for _, e := range file.Entries() {
		names = append(names, e.Name)
	}
	return names, nil
}
