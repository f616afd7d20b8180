package config

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/secret"
)

// LooksSecret reports whether the value of a variable, header or parameter of this name
// holds a secret as it is written. Placeholders do not, nor do words such as true, and
// the place of a file only where the text itself has the form of a secret.
func LooksSecret(name, value string) bool {
	if _, bare := BareVariable(value); bare {
		return false
	}
	literal := strings.TrimSpace(literalOf(value[secret.AfterScheme(value):]))
	if secret.LooksText(literal) {
		return true
	}
	return secret.LooksName(name) && maskFrom(value, secret.AfterScheme(value)) != value && !place.MatchString(value) && !placeName.MatchString(name)
}

var (
	place     = regexp.MustCompile(`^(/|\./|\.\./|~/|[A-Za-z]:\\|https?://)`)
	placeName = regexp.MustCompile(`(?i)[_-](file|path|dir|url|uri|id|name)$`)
)

// bareVariable finds $NAME as the whole of a text, or as a whole part of a path or URL.
var bareVariable = regexp.MustCompile(`(?:^|[/:=@])\$([A-Za-z_][A-Za-z0-9_]*)(?:$|[/:@&?])`)

// BareVariable returns the name in a text that refers to a variable as $NAME, as shells
// have it: the text stays as it is, and ${NAME} was probably meant. Texts of several
// words, but for a scheme such as Bearer, are left to their reader.
func BareVariable(text string) (name string, ok bool) {
	text = text[secret.AfterScheme(text):]
	if strings.ContainsAny(text, " \t\n;|") {
		return "", false
	}
	m := bareVariable.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

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
		return nil // Problem says why
	}
	var places []string
	add := func(at string, values map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if LooksSecret(name, values[name]) && !secret.PublicHeader(name) {
				places = append(places, at+"."+name)
			}
		}
	}
	add("env", e.Env)
	add("headers", e.Headers)
	for i, at := range secret.InArgs(e.Args, literalOf) {
		if at >= 0 && maskFrom(e.Args[i], at) != e.Args[i] {
			places = append(places, argPlace(i))
		}
	}
	if secretInURL(e.URL) {
		places = append(places, "url")
	}
	auth := map[string]string{}
	for name, value := range e.Auth {
		if text, ok := value.(string); ok {
			auth[name] = text
		}
	}
	add("auth", auth)
	return places
}

// secretInURL reports whether a URL, which may have placeholders, has a password, or a
// parameter or a part of its path that looks secret.
func secretInURL(text string) bool {
	_, rest, _ := strings.Cut(text, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 && strings.Trim(literalOf(authority[:at]), ":") != "" {
		return true
	}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if LooksSecret(name, value) {
			return true
		}
	}
	return maskPath(path) != path
}
