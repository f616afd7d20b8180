package adding

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Command adds an entry that starts a program, and returns its alias.
func (c *Adder) Command(ctx context.Context, alias string, words []string) (string, error) {
	return c.byHand(ctx, alias, func() (*addition, error) { return c.stdioEntry(ctx, words) })
}

// URL adds an entry of a remote server, and returns its alias.
func (c *Adder) URL(ctx context.Context, alias, url string) (string, error) {
	return c.byHand(ctx, alias, func() (*addition, error) { return c.urlEntry(url) })
}

// Entry adds an entry that is given as JSON, and returns its alias.
func (c *Adder) Entry(ctx context.Context, alias, text string) (string, error) {
	return c.byHand(ctx, alias, func() (*addition, error) { return c.jsonEntry(alias, text) })
}

// jsonEntry returns an entry that the user gives as an object.
func (c *Adder) jsonEntry(alias, text string) (*addition, error) {
	if len(c.Options.Env) > 0 || len(c.Options.Headers) > 0 || c.Options.Cwd != "" || c.Options.SSE {
		return nil, ui.Usage("add: --env, --header, --cwd and --sse cannot be used with an entry as JSON: write them into it")
	}
	raw := json.RawMessage(strings.TrimSpace(text))
	var of map[string]json.RawMessage
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, ui.Usage("the entry is no JSON: %w", err).WithHint(`as in '{"command": "npx", "args": ["-y", "PACKAGE"]}'`)
	}
	if of["mcpServers"] != nil || of["servers"] != nil {
		return nil, ui.Usage("that is a file of servers, and not one entry").WithHint("mcpctl import - reads it from standard input")
	}
	e, err := entryOf(alias, raw)
	if err = errors.Join(err, e.Err()); err != nil {
		return nil, err
	}
	plan := &scaffold.Plan{Entry: raw, Type: config.TransportStdio, Reference: e.Command, Runner: e.Command}
	if e.URL != "" {
		plan.Type, plan.Reference, plan.Runner = "remote", config.DisplayURL(e.URL), ""
	}
	if strings.Contains(e.Command, "$") || e.Cwd != "" && strings.ContainsAny(e.Command, `/\`) {
		plan.Runner = ""
	}
	checkRunner(plan)
	return &addition{plan: plan, title: plan.Reference, byHand: true}, nil
}

// byHand adds an entry that the user writes out.
func (c *Adder) byHand(ctx context.Context, alias string, entry func() (*addition, error)) (string, error) {
	if err := c.offerPlaceholders(ctx, c.Asker(), config.CleanAlias(alias), true); err != nil {
		return "", err
	}
	add, err := entry()
	if err != nil {
		return "", err
	}
	warnLiterals(add.plan)
	add.plan.Alias = c.cleanAlias(alias)
	// Requirements are the placeholders the user has written.
	for _, name := range placeholdersOf(add.plan.Entry) {
		add.plan.Required = append(add.plan.Required, scaffold.Requirement{Name: name, Kind: scaffold.KindEnv, Input: name})
	}
	if err := c.write(ctx, add); err != nil {
		if _, taken := errors.AsType[*config.ExistsError](err); taken {
			return "", &ui.Error{Err: err, Remedy: "choose another ALIAS, or --replace overwrites the entry"}
		}
		return "", err
	}
	return add.plan.Alias, c.announce(add)
}

// cleanAlias returns a valid alias for a text and reports the change.
func (c *Adder) cleanAlias(alias string) string {
	clean := config.CleanAlias(alias)
	if clean == "" {
		return alias // Set reports the error
	}
	if clean != alias {
		c.UI.Info("the entry is named %s", clean)
	}
	return clean
}

// stdioEntry returns an entry of command, args, env and cwd, and of a command-line tool
// what is exposed.
func (c *Adder) stdioEntry(ctx context.Context, words []string) (*addition, error) {
	if len(c.Options.Headers) > 0 || c.Options.SSE {
		return nil, ui.Usage("add: --header and --sse need a URL, not a command")
	}
	env, err := Members("--env", c.Options.Env, false)
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
	}{words[0], c.Options.CLI.On, c.Options.CLI.Only, nil, words[1:], env, c.Options.Cwd}
	entry, err := plain.JSON(members)
	var try []string
	if err == nil && c.Options.CLI.On {
		var e clitool.Exposure
		if e, try, err = c.chooseCommands(ctx, words); err == nil {
			members.Only, members.Deny = e.Only, e.Deny
			entry, err = plain.JSON(members)
		}
	}
	if err != nil {
		return nil, err
	}
	plan := &scaffold.Plan{Entry: entry, Type: config.TransportStdio, Reference: clitool.Line(append(words[:1:1], config.MaskArgs(words[1:])...))}
	if !strings.Contains(words[0], "$") && (c.Options.Cwd == "" || !strings.ContainsAny(words[0], `/\`)) {
		plan.Runner = words[0]
	}
	checkRunner(plan)
	return &addition{plan: plan, title: plan.Reference, byHand: true, try: try}, nil
}

// chooseCommands returns what of a command-line tool is exposed, and a first call of it.
func (c *Adder) chooseCommands(ctx context.Context, words []string) (clitool.Exposure, []string, error) {
	entry := config.Entry{Name: words[0], Command: words[0], Args: words[1:], Cwd: c.Options.Cwd, Env: map[string]string{}}
	for _, g := range c.Options.Env {
		entry.Env[g.Name] = g.Text()
	}
	var asker ui.Asker
	if !c.Options.Yes {
		asker = c.Asker()
	}
	found, err := dial.Commands(ctx, entry, c.Dial(entry))
	if err != nil {
		c.UI.Info("warning: its commands are not known: %v", err)
		return clitool.Exposure{Only: c.Options.CLI.Only}, nil, ctx.Err()
	}
	e, err := ChooseCommands(ctx, c.UI, asker, filepath.Base(words[0]), found, c.Options.CLI.Only)
	if err != nil {
		return e, nil, err
	}
	offer, err := clitool.OfferOf(clitool.Program{Command: words[0]}, &found, e)
	if err != nil {
		return e, nil, err
	}
	c.noteOffer(filepath.Base(words[0]), offer)
	return e, offer.Try, nil
}

// noteOffer says what is not sure of the tools of a command-line tool, and what is missing.
func (c *Adder) noteOffer(tool string, offer clitool.Offer) {
	if len(offer.Try) == 0 {
		c.UI.Info("nothing of %s is exposed, as it could change something: --cli-only '*' exposes all of it", tool)
	}
	if n := len(offer.Unsure); n > 0 {
		c.UI.Info("the help does not tell the arguments of %s: they are given as args", ui.Few(offer.Unsure))
	}
	if n := len(offer.Unread); n > 0 {
		c.UI.Info("not read, as they have too many words: %s; cliDepth in the entry is how many are read", ui.Few(offer.Unread))
	}
}

// urlEntry returns an entry of url, headers and, for the older transport, type.
func (c *Adder) urlEntry(target string) (*addition, error) {
	if len(c.Options.Env) > 0 || c.Options.Cwd != "" {
		return nil, ui.Usage("add: --env and --cwd need a command, not a URL")
	}
	headers, err := Members("--header", c.Options.Headers, true)
	if err != nil {
		return nil, err
	}
	kind := ""
	if c.Options.SSE {
		kind = config.TransportSSE
	}
	entry, err := plain.JSON(struct {
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
	for _, h := range c.Options.Headers {
		if reason := origin.OwnHeader(h.Name); reason != "" {
			plan.Warnings = append(plan.Warnings, "header "+h.Name+" "+reason)
		}
	}
	return &addition{plan: plan, title: plan.Reference, byHand: true}, nil
}

// Members returns NAME=VALUE pairs as an object in their order, nil for none. A
// duplicate name is an error; fold ignores letter case, for headers.
func Members(flag string, given []scaffold.InputValue, fold bool) (json.RawMessage, error) {
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
			return nil, ui.Usage("%s %s: given twice", flag, g.Name)
		}
		seen = append(seen, key)
		if g.Placeholder && fold {
			return nil, ui.Usage("%s: want NAME=VALUE", flag) // not quoted: it may be secret
		}
		name, err := plain.JSON(g.Name)
		if err != nil {
			return nil, err
		}
		text, err := plain.JSON(g.Text())
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
