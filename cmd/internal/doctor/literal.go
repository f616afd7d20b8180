package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// LiteralSecrets returns where the JSON of an entry holds what looks like a secret
// itself, not as a placeholder: "env.TOKEN", "headers.Authorization", "args[2]", "url" or
// "auth.clientSecret".
func LiteralSecrets(raw json.RawMessage) []string {
	var e struct {
		Args         []string
		Env, Headers map[string]string
		URL          string
		Auth         map[string]any
	}
	if json.Unmarshal(raw, &e) != nil {
		return nil // the entry has a fault, which says why
	}
	places := slices.Concat(inMembers("env", e.Env), inMembers("headers", e.Headers))
	for i, shown := range config.MaskArgs(e.Args) {
		address := strings.Contains(e.Args[i], "://")
		if address && inURL(e.Args[i]) || !address && shown != e.Args[i] {
			places = append(places, fmt.Sprintf("args[%d]", i))
		}
	}
	if inURL(e.URL) {
		places = append(places, "url")
	}
	auth := map[string]string{}
	for name, value := range e.Auth {
		if text, ok := value.(string); ok {
			auth[name] = text
		}
	}
	return append(places, inMembers("auth", auth)...)
}

func inMembers(at string, values map[string]string) []string {
	var places []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if config.LooksSecret(name, values[name]) && !secret.PublicHeader(name) {
			places = append(places, at+"."+name)
		}
	}
	return places
}

// inURL reports whether a URL, which may have placeholders, has a user or password, or a
// parameter or a part of its path that looks secret.
func inURL(text string) bool {
	_, rest, _ := strings.Cut(text, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	user := authority[:max(strings.LastIndexByte(authority, '@'), 0)]
	looks := func(name string) func(string) bool {
		return func(part string) bool { return config.LooksSecret(name, part) }
	}
	return slices.ContainsFunc(strings.Split(user, ":"), looks("password")) ||
		slices.ContainsFunc(strings.Split(path, "/"), looks("")) ||
		slices.ContainsFunc(strings.Split(query, "&"), func(part string) bool {
			name, value, _ := strings.Cut(part, "=")
			return config.LooksSecret(name, value)
		})
}
