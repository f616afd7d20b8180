package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/cmd/internal/clitree"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/clitool"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/origin"
	"github.com/mcpctl/mcpctl/scaffold"
)

// byHand adds an entry that the user writes out.
func (c *addCommand) byHand(ctx context.Context, flags *pflag.FlagSet, alias string, entry func() (*addition, error)) error {
	if err := c.reject(flags, "a server by hand", "as", "arg", "var", "package", "remote", "pre", "force"); err != nil {
		return err
	}
	if err := c.offerPlaceholders(ctx, c.questions(), config.CleanAlias(alias), true); err != nil {
		return err
	}
	add, err := entry()
	if err != nil {
		return err
	}
	warnLiterals(add.plan)
	add.plan.Alias = c.cleanAlias(alias)
	// Requirements are the placeholders the user has written.
	for _, name := range placeholdersOf(add.plan.Entry) {
		add.plan.Required = append(add.plan.Required, scaffold.Requirement{Name: name, Kind: scaffold.KindEnv, Input: name})
	}
	if err := c.write(ctx, add); err != nil {
		if _, taken := errors.AsType[*config.ExistsError](err); taken {
			return &Error{Err: err, Remedy: "choose another ALIAS, or --replace overwrites the entry"}
		}
		return err
	}
	if err := c.announce(add); err != nil {
		return err
	}
	return c.offerLogin(ctx, c.questions(), add)
}

// cleanAlias returns a valid alias for a text and reports the change.
func (c *addCommand) cleanAlias(alias string) string {
	clean := config.CleanAlias(alias)
	if clean == "" {
		return alias // Set reports the error
	}
	if clean != alias {
		c.ui.Note("the entry is named %s", clean)
	}
	return clean
}

// stdioEntry returns an entry of command, args, env and cwd, and of a command-line tool
// what is exposed.
func (c *addCommand) stdioEntry(ctx context.Context, words []string) (*addition, error) {
	if len(c.o.headers.givenFlag) > 0 || c.o.sse {
		return nil, usagef("add: --header and --sse need --url, not a command")
	}
	env, err := members("--env", c.o.env, false)
	if err != nil {
		return nil, err
	}
	members := struct {
		Command string          `json:"command"`
		CLI     bool            `json:"cli,omitempty"`
		Only    []string        `json:"cliOnly,omitempty"`
		Deny    []string        `json:"cliDeny,omitempty"`
		Args    []string        `json:"args,omitempty"`
		Env     json.RawMessage `json:"env,omitempty"`
		Cwd     string          `json:"cwd,omitempty"`
	}{words[0], c.o.cli.on, c.o.cli.only, nil, words[1:], env, c.o.cwd}
	entry, err := encodePlain(members)
	if err == nil && c.o.cli.on {
		var e clitool.Exposure
		if e, err = c.chooseCommands(ctx, words); err == nil {
			members.Only, members.Deny = e.Only, e.Deny
			entry, err = encodePlain(members)
		}
	}
	if err != nil {
		return nil, err
	}
	plan := &scaffold.Plan{Entry: entry, Type: config.TransportStdio, Reference: shellLine(append(words[:1:1], config.MaskArgs(words[1:])...))}
	if !strings.Contains(words[0], "$") && (c.o.cwd == "" || !strings.ContainsAny(words[0], `/\`)) {
		plan.Runner = words[0]
	}
	checkRunner(plan)
	return &addition{plan: plan, title: plan.Reference, byHand: true}, nil
}

// chooseCommands returns what of a command-line tool is exposed.
func (c *addCommand) chooseCommands(ctx context.Context, words []string) (clitool.Exposure, error) {
	entry := config.Entry{Name: words[0], Command: words[0], Args: words[1:], Cwd: c.o.cwd, Env: map[string]string{}}
	for _, g := range c.o.env {
		entry.Env[g.Name] = g.Value
		if g.Placeholder {
			entry.Env[g.Name] = "${" + g.Name + "}"
		}
	}
	var asker ui.Asker
	if !c.o.yes {
		asker = c.questions()
	}
	found, err := dial.Commands(ctx, entry, c.dialOptions(entry))
	if err != nil {
		c.ui.Note("warning: its commands are not known: %v", err)
		return clitool.Exposure{Only: c.o.cli.only}, ctx.Err()
	}
	return clitree.Choose(ctx, c.ui, asker, filepath.Base(words[0]), found, c.o.cli.only)
}

// urlEntry returns an entry of url, headers and, for the older transport, type.
func (c *addCommand) urlEntry(target string) (*addition, error) {
	if len(c.o.env) > 0 || c.o.cwd != "" {
		return nil, usagef("add: --env and --cwd need a command, not --url")
	}
	headers, err := members("--header", c.o.headers.givenFlag, true)
	if err != nil {
		return nil, err
	}
	kind := ""
	if c.o.sse {
		kind = config.TransportSSE
	}
	entry, err := encodePlain(struct {
		Type    string          `json:"type,omitempty"`
		URL     string          `json:"url"`
		Headers json.RawMessage `json:"headers,omitempty"`
	}{kind, target, headers})
	if err != nil {
		return nil, err
	}
	plan := &scaffold.Plan{Entry: entry, Type: "remote", Reference: config.DisplayURL(target)}
	if u, err := url.Parse(target); err == nil {
		if u.Scheme == "http" && !origin.IsLoopback(u.Hostname()) {
			plan.Warnings = append(plan.Warnings, "the URL is http: others on the way can read and change what is sent")
		}
		for _, fault := range origin.AddressFaults(u) {
			plan.Warnings = append(plan.Warnings, "the URL: "+fault)
		}
	}
	for _, h := range c.o.headers.givenFlag {
		if reason := config.OwnHeader(h.Name); reason != "" {
			plan.Warnings = append(plan.Warnings, "header "+h.Name+" "+reason)
		}
	}
	return &addition{plan: plan, title: plan.Reference, byHand: true}, nil
}

// members returns NAME=VALUE pairs as an object in their order, nil for none. A
// duplicate name is an error; fold ignores letter case, for headers.
func members(flag string, given []scaffold.Given, fold bool) (json.RawMessage, error) {
	if len(given) == 0 {
		return nil, nil
	}
	var seen []string
	b := []byte{'{'}
	for i, g := range given {
		key := g.Name
		if fold {
			key = strings.ToLower(key)
		}
		if slices.Contains(seen, key) {
			return nil, usagef("%s %s: given twice", flag, g.Name)
		}
		seen = append(seen, key)
		value := g.Value
		if g.Placeholder {
			if fold {
				return nil, usagef("%s: want NAME=VALUE", flag) // not quoted: it may be secret
			}
			value = "${" + g.Name + "}"
		}
		name, err := encodePlain(g.Name)
		if err != nil {
			return nil, err
		}
		text, err := encodePlain(value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), text...)
	}
	return append(b, '}'), nil
}

// encodePlain is json.Marshal without escapes for < > &.
func encodePlain(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// placeholdersOf returns the variables that an entry requires, in order.
func placeholdersOf(entry json.RawMessage) []string {
	var e struct {
		Command, URL, Cwd string
		Args              []string
		Env, Headers      map[string]string
	}
	if json.Unmarshal(entry, &e) != nil {
		return nil
	}
	texts := append([]string{e.Command, e.URL, e.Cwd}, e.Args...)
	for _, m := range []map[string]string{e.Env, e.Headers} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			texts = append(texts, m[k])
		}
	}
	var out []string
	for _, t := range texts {
		names, required := config.Variables(t)
		for _, n := range names {
			if required && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

func shellLine(words []string) string { return clitool.Line(words) }
