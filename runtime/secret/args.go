package secret

import (
	"strings"

	"github.com/mcpctl/mcpctl/runtime/lazy"
)

// InArgs returns where in each argument a secret begins, -1 for nowhere: behind
// --token=, token= and Authorization:, at 0 in the argument after --token and in one
// that has the form of a secret. Literal returns a text without its placeholders.
func InArgs(args []string, literal func(string) string) []int {
	out := make([]int, len(args))
	follows := false
	for i, arg := range args {
		out[i] = -1
		flag := strings.HasPrefix(arg, "-")
		name, at := assignment(arg)
		switch {
		case follows && !flag:
			out[i] = 0
		case at > 0 && LooksName(name):
			out[i] = at
			if arg[at-1] == ':' || strings.ContainsRune(arg[at:], ' ') {
				out[i] += AfterScheme(arg[at:])
			}
		case LooksText(literal(arg)) && !strings.Contains(arg, "://"):
			out[i] = 0
		case at > 0 && LooksText(literal(arg[at:])) && !strings.Contains(arg, "://"):
			out[i] = at
		}
		follows = flag && at < 0 && LooksName(arg)
	}
	return out
}

var assigned = lazy.Regexp(`^(-{0,2}[A-Za-z_][A-Za-z0-9_.-]*)(=|: *)`)

// assignment parses NAME=VALUE and NAME: VALUE into the name and the offset of the
// value, -1 for other texts.
func assignment(arg string) (name string, at int) {
	m := assigned().FindStringSubmatch(arg)
	if m == nil || strings.HasPrefix(arg[len(m[0]):], "//") {
		return "", -1
	}
	return m[1], len(m[0])
}
