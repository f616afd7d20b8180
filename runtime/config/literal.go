package config

import (
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/secret"
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
	return secret.LooksName(name) && maskFrom(value, secret.AfterScheme(value)) != value && !place().MatchString(value) && !placeName().MatchString(name)
}

var (
	place     = lazy.Regexp(`^(/|\./|\.\./|~/|[A-Za-z]:\\|https?://)`)
	placeName = lazy.Regexp(`(?i)[_-](file|path|dir|url|uri|id|name)$`)
)

// bareVariable finds $NAME as the whole of a text, or as a whole part of a path or URL.
var bareVariable = lazy.Regexp(`(?:^|[/:=@])\$([A-Za-z_][A-Za-z0-9_]*)(?:$|[/:@&?])`)

// BareVariable returns the name in a text that refers to a variable as $NAME, as shells
// have it: the text stays as it is, and ${NAME} was probably meant. Texts of several
// words, but for a scheme such as Bearer, are left to their reader.
func BareVariable(text string) (name string, ok bool) {
	if !strings.Contains(text, "$") {
		return "", false // of most texts, so that the expression need not be compiled
	}
	text = text[secret.AfterScheme(text):]
	if m := bareVariable().FindStringSubmatch(text); m != nil && !strings.ContainsAny(text, " \t\n;|") {
		return m[1], true
	}
	return "", false
}
