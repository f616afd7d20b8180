package cli

import (
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// nearestNames is how many names a suggestion has.
const nearestNames = 3

func shellLine(words []string) string { return clitool.Line(words) }

// unknownName returns the error for the name of a tool, prompt or server that does
// not exist. list is the command that shows those that do.
func unknownName(what, name string, known []string, list string) *Error {
	e := usagef("%s %s", what, name)
	var parts []string
	if near := plain.Nearest(name, known, nearestNames); len(near) > 0 {
		parts = append(parts, "did you mean "+plain.JoinOr(near)+"?")
	}
	if list != "" {
		parts = append(parts, "see "+list)
	}
	e.Remedy = strings.Join(parts, " ")
	return e
}

// serverNames returns the servers of a configuration, of all layers for "", those of a
// project's file that is not trusted as well; none without a file.
func (env *environment) serverNames(path string, alone bool) ([]string, error) {
	if path == "" {
		var err error
		if path, err = config.Path(env.getenv); err != nil {
			return nil, err
		}
		alone = settings.NamesConfig(env.getenv)
	}
	set, err := ReadLayers(env.getenv, path, alone)
	if err != nil {
		return nil, err
	}
	env.file.set, env.file.path = set, path
	return set.Names(), nil
}
