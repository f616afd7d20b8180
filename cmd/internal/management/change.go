package management

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/runtime/clitool"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/lazy"
	"github.com/mcpctl/mcpctl/runtime/plain"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/runtime/secret"
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

func (s *server) add(ctx context.Context, c *runtimetest.Call, in addition) (any, error) {
	words, err := in.words()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout+s.consent.timeout)
	defer cancel()
	var answer error
	approve := func(ctx context.Context, p adding.Proposal) error {
		answer = s.approve(ctx, c, p, "mcpctl "+clitool.Line(words))
		return answer
	}
	res, err := s.run(ctx, approve, slices.Insert(slices.Clone(words), 1, "--json", "--yes"))
	switch {
	case answer != nil:
		return nil, answer
	case err != nil:
		return nil, forAgents(err)
	}
	res["next"] = next(res)
	return res, nil
}

// forAgents puts the names of add_server's arguments into an error that has those of
// flags.
func forAgents(err error) error {
	text := strings.NewReplacer(
		"--replace", "replace: true", "--as ALIAS", "another alias", "--package", "package", "--remote", "remote", "--env", "env", "--header", "headers",
		"--arg", "arguments", "--var", "variables", "--pre", "a @VERSION", "another ALIAS", "another alias",
	).Replace(err.Error())
	return errors.New(text)
}

// next returns what is left to do after an addition.
func next(res map[string]any) []string {
	var todo, names []string
	required, _ := res["required"].([]any)
	for _, r := range required {
		member, _ := r.(map[string]any)
		if name, ok := member["name"].(string); ok {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		todo = append(todo, "The person sets "+strings.Join(names, ", ")+" in the environment in which the host starts, as with export NAME=VALUE before it. Do not ask for the values.")
	}
	return append(todo, "check_server "+fmt.Sprint(res["alias"])+" reports whether it works. A running mcpctl serve has it already.")
}

// words returns the command of mcpctl, without --yes. Values that look like secrets are
// placeholders in it.
func (in *addition) words() ([]string, error) {
	kinds := 0
	for _, given := range []bool{in.Name != "", in.Command != "", in.URL != ""} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		return nil, errors.New("invalid arguments: want one of name, command and url")
	}
	if in.Alias != "" || in.Name == "" {
		if err := config.CheckAlias(in.Alias); err != nil {
			return nil, fmt.Errorf("invalid arguments: alias: %w", err)
		}
	}
	if err := in.check(); err != nil {
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

// check refuses arguments that do not belong together, or that nobody could be shown.
func (in *addition) check() error {
	if in.Name != "" {
		if err := checkRecord(in.Name); err != nil {
			return err
		}
	}
	type use struct {
		member string
		given  bool
		fits   bool
	}
	for _, u := range []use{
		{"args", in.Args != nil, in.Command != ""},
		{"sse", in.SSE, in.URL != ""},
		{"env", in.Env != nil, in.URL == ""},
		{"headers", in.Headers != nil, in.Command == ""},
		{"arguments", in.Arguments != nil, in.Name != ""},
		{"variables", in.Variables != nil, in.Name != ""},
		{"package", in.Package != "", in.Name != ""},
		{"remote", in.Remote, in.Name != ""},
	} {
		if u.given && !u.fits {
			return fmt.Errorf("invalid arguments: %s cannot be used with %s", u.member, map[bool]string{true: "name", false: map[bool]string{true: "command", false: "url"}[in.Command != ""]}[in.Name != ""])
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
				return fmt.Errorf("invalid arguments: %s has the name %q", named.member, cut(name, 100))
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

// approve asks a person about an entry.
func (s *server) approve(ctx context.Context, c *runtimetest.Call, p adding.Proposal, command string) error {
	if places := doctor.LiteralSecrets(p.Plan.Entry); p.ByHand && len(places) > 0 {
		return fmt.Errorf("%s looks like a secret. Write ${NAME} instead, which is taken from the environment variable NAME", strings.Join(places, ", "))
	}
	message, err := s.message(p)
	if err != nil {
		return &refused{"This cannot be shown to a person as it is: " + err.Error() + ".", ""}
	}
	return s.consent.ask(ctx, s.gone, c, proposal{message: message, field: "Add " + p.Plan.Alias, exact: p.Plan.Entry, command: command})
}

func (s *server) remove(ctx context.Context, c *runtimetest.Call, in oneServer) (any, error) {
	if err := config.CheckAlias(in.Server); err != nil {
		return nil, err
	}
	shown, err := s.read(ctx, []string{"get", "--json", "--", in.Server})
	if err != nil {
		return nil, err
	}
	entry, _ := shown.(map[string]any)["entry"].(map[string]any)
	e, err := config.Parse("", marshal(map[string]any{"mcpServers": map[string]any{in.Server: entry}}))
	if err != nil {
		return nil, err
	}
	before, _ := e.Entry(in.Server)
	words := []string{"remove", in.Server}
	err = s.consent.ask(ctx, s.gone, c, proposal{
		message: "An agent asks to remove an MCP server from mcpctl.\n\nName: " + in.Server + "\nIt runs or contacts: " + cut(plain.Line(before.Target()), maxShown) + "\nFile: " + plain.Line(s.o.ConfigPath),
		field:   "Remove " + in.Server, exact: marshal(entry), command: "mcpctl " + clitool.Line(words),
	})
	if err != nil {
		return nil, err
	}
	return s.read(ctx, []string{"remove", "--json", in.Server})
}

const (
	// maxMessage bounds what a person is asked to read. An entry beyond it is refused.
	maxMessage = 4000
	// maxShown bounds what is shown of an entry that goes.
	maxShown = 300
)

// message returns the question whether an entry is added: all of the entry, and nothing
// that strangers could use to persuade, such as titles and descriptions.
func (s *server) message(p adding.Proposal) (string, error) {
	var b strings.Builder
	b.WriteString("An agent asks to add an MCP server to mcpctl.\n\n")
	line := func(name, text string) { fmt.Fprintf(&b, "%s: %s\n", name, text) }
	line("Name", p.Plan.Alias)
	if o := p.Plan.Origin; o.Name != "" {
		line("From the registry", plain.Line(o.Name+" "+o.Version+", "+o.Registry))
	}
	if err := describe(p.Plan.Entry, line); err != nil {
		return "", err
	}
	for _, r := range p.Plan.Required {
		note := ""
		if r.Secret {
			note = " (secret)"
		}
		line("Takes from the environment", plain.Line(r.Name)+note)
	}
	if p.Before != nil {
		line("REPLACES", cut(plain.Line(p.Before.Target()), maxShown))
	}
	for _, w := range p.Plan.Warnings {
		line("Warning", cut(plain.Line(w), maxShown))
	}
	b.WriteString("File: " + plain.Line(s.o.ConfigPath))
	if b.Len() > maxMessage {
		return "", fmt.Errorf("it has more than %d characters", maxMessage)
	}
	return b.String(), nil
}

// describe calls line for each member of an entry, none left out.
func describe(entry json.RawMessage, line func(name, text string)) error {
	members := map[string]json.RawMessage{}
	var known struct {
		Command, URL, Cwd string
		Args              []string
		Env, Headers      map[string]string
	}
	if err := errors.Join(json.Unmarshal(entry, &members), json.Unmarshal(entry, &known)); err != nil {
		return err
	}
	for _, text := range slices.Concat([]string{known.Command, known.URL, known.Cwd}, known.Args) {
		if err := readable("the command line or the address", text); err != nil {
			return err
		}
	}
	if known.Command != "" {
		line("Runs", clitool.Line(append([]string{known.Command}, known.Args...)))
	}
	if known.URL != "" {
		line("Contacts", known.URL)
	}
	if known.Cwd != "" {
		line("In the directory", known.Cwd)
	}
	for _, list := range []struct {
		title  string
		values map[string]string
	}{{"Environment", known.Env}, {"Header", known.Headers}} {
		for _, name := range slices.Sorted(maps.Keys(list.values)) {
			text := name + "=" + list.values[name]
			if err := readable(list.title, text); err != nil {
				return err
			}
			line(list.title, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains([]string{"command", "args", "url", "cwd", "env", "headers", "origin"}, name) {
			continue
		}
		text := string(members[name])
		if err := readable(name, text); err != nil {
			return err
		}
		line(plain.Line(name), text)
	}
	return nil
}
