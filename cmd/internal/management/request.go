package management

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// addition is what add_server is asked for.
type addition struct {
	Name      string            `json:"name"`
	Alias     string            `json:"alias"`
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	URL       string            `json:"url"`
	SSE       bool              `json:"sse"`
	Env       map[string]string `json:"env"`
	Headers   map[string]string `json:"headers"`
	Arguments map[string]string `json:"arguments"`
	Variables map[string]string `json:"variables"`
	Package   string            `json:"package"`
	Remote    bool              `json:"remote"`
	Replace   bool              `json:"replace"`
}

// words returns the command of mcpctl, without --yes. Values that look like secrets are
// placeholders in it.
func (in *addition) words() ([]string, error) {
	var kinds []string
	for kind, given := range map[string]string{"name": in.Name, "command": in.Command, "url": in.URL} {
		if given != "" {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) != 1 {
		return nil, errors.New("invalid arguments: want one of name, command and url")
	}
	if in.Alias != "" || in.Name == "" {
		if err := config.CheckAlias(in.Alias); err != nil {
			return nil, fmt.Errorf("invalid arguments: alias: %w", err)
		}
	}
	if err := in.check(kinds[0]); err != nil {
		return nil, err
	}
	words := []string{"add"}
	for _, pairs := range []struct {
		flag   string
		values map[string]string
	}{{"env", in.Env}, {"header", in.Headers}, {"arg", in.Arguments}, {"var", in.Variables}} {
		for _, name := range slices.Sorted(maps.Keys(pairs.values)) {
			words = append(words, "--"+pairs.flag+"="+in.pair(pairs.flag, name, pairs.values[name]))
		}
	}
	if in.Replace {
		words = append(words, "--replace")
	}
	switch {
	case in.Command != "":
		return slices.Concat(words, []string{in.Alias, "--", in.Command}, in.Args), nil
	case in.URL != "":
		if in.SSE {
			words = append(words, "--sse")
		}
		return append(words, "--url="+in.URL, in.Alias), nil
	}
	if in.Alias != "" {
		words = append(words, "--as="+in.Alias)
	}
	if in.Package != "" {
		words = append(words, "--package="+in.Package)
	}
	if in.Remote {
		words = append(words, "--remote")
	}
	return append(words, in.Name), nil
}

// pair returns a name and its value for a flag. In place of what looks like a secret it
// has a placeholder: a secret is nothing for a conversation or a file.
func (in *addition) pair(flag, name, value string) string {
	if !config.LooksSecret(name, value) || secret.PublicHeader(name) {
		return name + "=" + value
	}
	variable := scaffold.PlaceholderName(config.CleanAlias(cmp.Or(in.Alias, path.Base(in.Name))), name)
	if flag == "env" {
		variable = name
	}
	return name + "=" + value[:secret.AfterScheme(value)] + "${" + variable + "}"
}

// names that flags can have in front of "=".
var (
	variableName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]{0,199}$`)
	headerName   = lazy.Regexp("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$")
	inputName    = lazy.Regexp(`^[^=\s]{1,200}$`)
)

// check refuses arguments that do not belong to a kind of server, or that nobody could be
// shown. Empty ones count as left out: some models give all.
func (in *addition) check(kind string) error {
	if in.Name != "" {
		if err := checkRecord(in.Name); err != nil {
			return err
		}
	}
	for _, member := range []struct {
		name  string
		given bool
		with  []string
	}{
		{"args", len(in.Args) > 0, []string{"command"}},
		{"sse", in.SSE, []string{"url"}},
		{"env", len(in.Env) > 0, []string{"name", "command"}},
		{"headers", len(in.Headers) > 0, []string{"name", "url"}},
		{"arguments", len(in.Arguments) > 0, []string{"name"}},
		{"variables", len(in.Variables) > 0, []string{"name"}},
		{"package", in.Package != "", []string{"name"}},
		{"remote", in.Remote, []string{"name"}},
	} {
		if member.given && !slices.Contains(member.with, kind) {
			return fmt.Errorf("invalid arguments: %s cannot be used with %s", member.name, kind)
		}
	}
	if in.URL != "" && !strings.HasPrefix(in.URL, "https://") && !strings.HasPrefix(in.URL, "http://") {
		return errors.New("invalid arguments: url does not begin with https:// or http://")
	}
	for _, named := range []struct {
		member string
		form   func(string) bool
		values map[string]string
	}{
		{"env", variableName().MatchString, in.Env},
		{"headers", headerName().MatchString, in.Headers},
		{"arguments", inputName().MatchString, in.Arguments},
		{"variables", inputName().MatchString, in.Variables},
	} {
		for name, value := range named.values {
			if !named.form(name) {
				return fmt.Errorf("invalid arguments: %s has the name %q", named.member, plain.Clip(name, 100))
			}
			if err := readable(named.member+"."+name, value); err != nil {
				return err
			}
		}
	}
	for _, text := range slices.Concat([]string{in.Command, in.URL, in.Package}, in.Args) {
		if err := readable("command, args, url or package", text); err != nil {
			return err
		}
	}
	return nil
}

// readable refuses a text that a person would be shown otherwise than it is.
func readable(place, text string) error {
	if plain.Line(text) != text {
		return fmt.Errorf("%s has a line break, a control character or an invisible one: a person could not see what is added", place)
	}
	return nil
}
