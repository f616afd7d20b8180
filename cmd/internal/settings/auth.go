package settings

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/authconfig"
)

// maxAuth bounds a file that --auth names, in bytes.
const maxAuth = 1 << 20

// auth reads --auth, its short forms, and their variables; nil where there are none.
func (src *source) auth() (*authconfig.Override, error) {
	object := map[string]any{}
	from, text := src.text("auth")
	part := text == ""
	if !part {
		if name, ok := strings.CutPrefix(text, "@"); ok {
			raw, err := atomicfile.Read(name, maxAuth)
			if err != nil {
				return nil, &ValueError{Source: from, Message: "is " + quote(text) + ": " + err.Error()}
			}
			text = string(raw)
		}
		if json.Unmarshal([]byte(text), &object) != nil {
			return nil, &ValueError{Source: from, Message: "is not a JSON object or @FILE with one"}
		}
	}
	for flag, key := range map[string]string{"client-id": "clientId", "client-metadata-url": "clientMetadataUrl"} {
		if source, value := src.text(flag); value != "" {
			from, object[key] = source, value
		}
	}
	if source, name := src.text("client-secret-env"); name != "" {
		value := src.o.Getenv(name)
		if value == "" {
			return nil, &ValueError{Source: source, Message: "is " + quote(name) + ", a variable that is not set"}
		}
		from, object["clientSecret"] = source, value
	}
	if source, value := src.text("callback-port"); value != "" {
		port, err := strconv.Atoi(value)
		if err != nil {
			return nil, &ValueError{Source: source, Message: "is " + quote(value) + ", which is not a port"}
		}
		from, object["callbackPort"] = source, port
	}
	if scopes := src.scopes(); len(scopes) > 0 {
		from, object["scopes"] = "--scope", scopes
	}
	if len(object) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	c, err := authconfig.Parse(raw)
	if err != nil {
		return nil, &ValueError{Source: from, Message: "is not usable: " + err.Error()}
	}
	return &authconfig.Override{Config: c, Part: part}, nil
}

// text returns the value of a flag or its variable, and which of them it is from.
func (src *source) text(flag string) (from, value string) {
	if src.changed(flag) {
		return "--" + flag, src.flag(flag)
	}
	return Variable(flag), src.o.Getenv(Variable(flag))
}

// scopes are --scope, each of which may name several.
func (src *source) scopes() (all []string) {
	words := []string{src.o.Getenv(Variable("scope"))}
	if src.changed("scope") {
		if given, err := src.o.Flags.GetStringArray("scope"); err == nil {
			words = given
		}
	}
	for _, w := range words {
		all = append(all, strings.Fields(w)...)
	}
	return all
}
