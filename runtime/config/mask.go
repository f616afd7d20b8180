package config

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// MaskArgs returns arguments for display: what looks secret in them is
// [secret.Redacted]. Placeholders stay.
func MaskArgs(args []string) []string {
	out := make([]string, len(args))
	for i, at := range secret.InArgs(args, literalOf) {
		if out[i] = args[i]; at >= 0 {
			out[i] = maskFrom(args[i], at)
		} else {
			out[i] = maskNamed("", args[i])
		}
	}
	return out
}

// MaskEntry returns the JSON of an entry for display: user information and query
// values of its url, values of headers, env values and args that look secret, and
// other members whose name or text does, are [secret.Redacted]. Placeholders stay.
// Anything that is not an object is returned unchanged.
func MaskEntry(raw json.RawMessage) json.RawMessage {
	root, err := hujson.Parse(raw)
	if err != nil {
		return raw
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return raw
	}
	for i := range object.Members {
		m := &object.Members[i]
		switch name := jsonedit.Name(m); name {
		case "url":
			maskStrings(&m.Value, "", func(_, text string) string { return maskURL(text) })
		case "headers":
			maskStrings(&m.Value, "", maskHeader)
		case "args":
			maskList(&m.Value)
		case "auth":
			maskStrings(&m.Value, name, maskAuth)
		default:
			maskStrings(&m.Value, name, maskNamed)
		}
	}
	return root.Pack()
}

// maskStrings masks the texts in a value by the name of the member they are in.
func maskStrings(v *hujson.Value, name string, mask func(name, text string) string) {
	switch value := v.Value.(type) {
	case hujson.Literal:
		if value.Kind() == '"' {
			v.Value = hujson.String(mask(name, value.String()))
		}
	case *hujson.Object:
		for i := range value.Members {
			maskStrings(&value.Members[i].Value, jsonedit.Name(&value.Members[i]), mask)
		}
	case *hujson.Array:
		for i := range value.Elements {
			maskStrings(&value.Elements[i], name, mask)
		}
	}
}

func maskList(v *hujson.Value) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return
	}
	texts := make([]string, len(list.Elements))
	for i, e := range list.Elements {
		if literal, ok := e.Value.(hujson.Literal); ok && literal.Kind() == '"' {
			texts[i] = literal.String()
		}
	}
	for i, text := range MaskArgs(texts) {
		if text != texts[i] {
			list.Elements[i].Value = hujson.String(text)
		}
	}
}

// maskHeader masks the value of a header, except a scheme such as Bearer.
func maskHeader(name, text string) string {
	if secret.PublicHeader(name) {
		return text
	}
	return maskValue(name, text, secret.AfterScheme(text))
}

// maskNamed masks a text by its own look and the name of its member or variable.
func maskNamed(name, text string) string {
	// The default of a placeholder whose variable looks secret is secret as well.
	if names, _ := Variables(text); slices.ContainsFunc(names, secret.LooksName) {
		text = defaults().ReplaceAllString(text, "${1}"+secret.Redacted+"}")
	}
	switch {
	case secret.LooksName(name):
		return maskFrom(text, secret.AfterScheme(text))
	case strings.Contains(text, "://"):
		return maskURL(text)
	case secret.LooksText(literalOf(text)):
		return maskFrom(text, 0)
	}
	return text
}

// maskFrom masks a text from an offset on, unless only placeholders or a word that
// cannot be a secret are there.
func maskFrom(text string, at int) string {
	switch strings.ToLower(strings.TrimSpace(literalOf(text[at:]))) {
	case "", "true", "false", "yes", "no", "on", "off", "none", "null", "0", "1":
		return text
	}
	// Where defaults of placeholders are the only literal text, mask those alone.
	masked := defaults().ReplaceAllString(text[at:], "${1}"+secret.Redacted+"}")
	if strings.Trim(strings.ReplaceAll(literalOf(masked), secret.Redacted, ""), " ") == "" {
		return text[:at] + masked
	}
	return text[:at] + secret.Redacted
}

var defaults = lazy.Regexp(`(\$\{[A-Za-z_][A-Za-z0-9_]*:?-)[^{}]*\}`)

// maskValue is maskFrom, except for a short value without a secret name.
func maskValue(name, text string, at int) string {
	if len(literalOf(text[at:])) < secret.MinLength && !secret.LooksName(name) {
		return text
	}
	return maskFrom(text, at)
}

// literalOf returns a text with its placeholders removed, except their defaults.
func literalOf(text string) string {
	x := &expander{lookup: func(string) (string, bool) { return "", false }, missing: MissingEmpty}
	return x.field("", text)
}

// maskURL masks user information, query values, and parts of the path that look
// secret, in a URL that may hold placeholders. Other texts are returned unchanged.
func maskURL(text string) string {
	before, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	authority, path, hasPath := strings.Cut(rest, "/")
	out := before + "://"
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if strings.Trim(literalOf(authority[:at]), ":") != "" {
			authority = secret.Redacted + authority[at:]
		}
	}
	out += authority
	if hasPath {
		out += "/" + maskPath(path)
	}
	if hasQuery {
		parts := strings.Split(query, "&")
		for i, part := range parts {
			parts[i] = maskValue("", part, 0)
			if name, _, set := strings.Cut(part, "="); set {
				parts[i] = maskValue(name, part, len(name)+1)
			}
		}
		out += "?" + strings.Join(parts, "&")
	}
	if hasFragment {
		out += "#" + maskValue("", fragment, 0)
	}
	return out
}

func maskPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if secret.LooksText(literalOf(part)) {
			parts[i] = secret.Redacted
		}
	}
	return strings.Join(parts, "/")
}

func argPlace(i int) string { return "args[" + strconv.Itoa(i) + "]" }

// DisplayURL returns a URL for messages and logs: without user, password, query
// and fragment, which may be secret, and without parts of the path that look so.
// The URL may hold placeholders. Any other text is treated the same way: it may be
// a mistyped URL.
func DisplayURL(text string) string {
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "?")
	scheme, rest, found := strings.Cut(text, "//")
	if !found {
		scheme, rest = "", text
	} else {
		scheme += "//"
	}
	authority, path, deeper := strings.Cut(rest, "/")
	out := scheme + authority[strings.LastIndexByte(authority, '@')+1:]
	if deeper {
		out += "/" + maskPath(path)
	}
	return out
}

// Target returns the command line or the URL of the server for display: what looks secret
// is [secret.Redacted], placeholders stay.
func (e Entry) Target() string {
	if e.URL != "" {
		return DisplayURL(e.URL)
	}
	words := []string{e.Command}
	for _, arg := range MaskArgs(e.Args) {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
