package scaffold

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Alias returns an entry's name made of a server's: the part behind the slash in
// lower case, with '-' for characters other than a-z 0-9 _ -. A generic part
// (mcp, server, api, …) is replaced by the last part of the namespace that is
// not: com.stripe/mcp is "stripe". The result may be taken, or be the name of a
// command; no entry is renamed silently.
func Alias(server string) string {
	namespace, last := registry.SplitName(strings.ToLower(server))
	alias := last
	if isGeneric(last) {
		labels := strings.Split(namespace, ".")
		for _, label := range slices.Backward(labels) {
			if label != "" && !isGeneric(label) {
				alias = label
				break
			}
		}
	}
	alias = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, alias)
	if alias = config.CleanAlias(alias); alias == "" {
		return "server"
	}
	return alias
}

func isGeneric(part string) bool {
	switch part {
	case "mcp", "server", "mcp-server", "remote", "api", "app":
		return true
	}
	return false
}

// PlaceholderName returns the name of an environment variable for an input of an
// entry: ALIAS_ID in upper case, or only ID where it begins with ALIAS.
func PlaceholderName(alias, id string) string {
	a, i := upper(alias), upper(id)
	name := a + "_" + i
	switch {
	case i == "":
		name = a
	case i == a || strings.HasPrefix(i, a+"_"):
		name = i
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// upper returns the letters and digits in upper case, with one '_' for whatever
// is between them.
func upper(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool {
		return !(r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}), "_")
}

// isVariableName reports whether a text can be used in ${}.
func isVariableName(s string) bool {
	for i, r := range s {
		if !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9') {
			return false
		}
	}
	return s != ""
}
