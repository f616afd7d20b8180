package secret

import "strings"

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

// assignment parses NAME=VALUE and NAME: VALUE, where up to two hyphens may come first,
// into the name and the offset of the value, -1 for other texts.
func assignment(arg string) (name string, at int) {
	hyphens := min(len(arg)-len(strings.TrimLeft(arg, "-")), 2)
	end := hyphens
	for end < len(arg) && (letter(arg[end]) || arg[end] == '_' || end > hyphens && (arg[end] >= '0' && arg[end] <= '9' || arg[end] == '.' || arg[end] == '-')) {
		end++
	}
	if end == hyphens || end == len(arg) || arg[end] != '=' && arg[end] != ':' {
		return "", -1
	}
	at = end + 1
	if arg[end] == ':' {
		at += spaces(arg[at:])
	}
	if strings.HasPrefix(arg[at:], "//") {
		return "", -1
	}
	return arg[:end], at
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// spaces returns how many spaces a text begins with.
func spaces(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }
