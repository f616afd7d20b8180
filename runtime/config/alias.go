package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const maxAlias = 64

// CheckAlias checks the name of a server: 1 to 64 of A-Z a-z 0-9 . _ - beginning
// with a letter or digit, no "__" (it separates server and tool where many servers
// are served as one), and no command of mcpctl. The error is an [*AliasError].
func CheckAlias(alias string) error {
	reason := aliasFault(alias)
	switch {
	case reason != "":
		e := &AliasError{Alias: alias, Reason: reason, Remedy: "letters, digits, '.', '_' and '-', at most 64, no '__'"}
		if clean := CleanAlias(alias); clean != "" && clean != alias {
			e.Remedy = "try " + clean
		}
		return e
	case Reserved(alias):
		return &AliasError{Alias: alias, Reason: "it is the name of a command", Remedy: "try " + alias + "-server"}
	}
	return nil
}

func aliasFault(alias string) string {
	switch {
	case alias == "":
		return "it is empty"
	case len(alias) > maxAlias:
		return "it is longer than " + strconv.Itoa(maxAlias) + " characters"
	case strings.Contains(alias, "__"):
		return `it contains "__", which separates server and tool`
	case !alphanumeric(rune(alias[0])):
		return "it does not begin with a letter or digit"
	}
	for _, r := range alias {
		if !aliasRune(r) {
			return "it contains " + strconv.QuoteRune(r)
		}
	}
	return ""
}

// CleanAlias turns any text into a valid alias, except reserved words: other
// characters become '-', runs of '_' one, and what cannot begin an alias is
// cut off, as is what exceeds 64 characters. "" when nothing is left.
func CleanAlias(text string) string {
	if aliasFault(text) == "" {
		return text
	}
	var b strings.Builder
	last := rune(0)
	for _, r := range text {
		foreign := !aliasRune(r)
		if foreign {
			r = '-'
		}
		if r == last && (foreign || r == '_') {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return strings.TrimRight(shorten(strings.TrimLeft(b.String(), "._-"), maxAlias), "._-")
}

// maxSuffix leaves room for a text and a number.
const maxSuffix = 32

// FreeAlias returns an alias that can be used and is not taken, made of a text: the text
// as [CleanAlias] has it, else with a suffix, else with the suffix and a number. The text is
// cut off where the whole would be too long. One of which nothing is left is "server".
func FreeAlias(text, suffix string, taken map[string]bool) string {
	base := cmp.Or(CleanAlias(text), "server")
	suffix = shorten(CleanAlias(suffix), maxSuffix)
	// No two numbers make the same alias, so that as many as are taken are enough.
	for n := 0; ; n++ {
		tail := ""
		if n > 0 && suffix != "" {
			tail = "-" + suffix
		}
		if n > 1 {
			tail += "-" + strconv.Itoa(n)
		}
		alias := shorten(base, maxAlias-len(tail)) + tail
		if CheckAlias(alias) == nil && !taken[alias] {
			return alias
		}
	}
}

// shorten cuts an alias off after n characters, and what cannot end one.
func shorten(alias string, n int) string {
	if len(alias) <= n {
		return alias
	}
	return strings.TrimRight(alias[:n], "._-")
}

// Reserved reports whether a word is a command of mcpctl, present or planned, and
// so cannot be an alias.
func Reserved(word string) bool {
	return slices.Contains(commands(), word) || understood(word)
}

// understood reports whether a word is one that mcpctl takes for a command that it has under
// another name. A server that has the name already keeps it.
func understood(word string) bool {
	return slices.Contains([]string{
		"acl", "check", "del", "delete", "disable", "edit", "enable", "exec", "init", "inspect", "install", "login", "logout", "logs",
		"options", "ps", "reload", "restart", "servers", "start", "stop", "test", "token", "top", "uninstall", "upgrade", "validate",
		"view", "views", "whoami",
	}, word)
}

func commands() []string {
	return []string{
		"access", "add", "audit", "auth", "bridge", "budget", "call", "completion", "config", "demo", "demo-server", "describe", "doctor",
		"explain", "export", "find", "gateway", "generate", "get", "grep", "help", "import", "info", "lint", "list", "lock",
		"ls", "mcp", "ops", "ping", "policy", "prompt", "prompts", "read", "record", "remove", "replay", "resources",
		"rm", "run", "search", "serve", "session", "show", "status", "sync", "tools", "update", "version",
	}
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func aliasRune(r rune) bool {
	return r == '.' || r == '_' || r == '-' || alphanumeric(r)
}
