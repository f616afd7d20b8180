package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Doctor checks servers.
type Doctor struct {
	// Dial returns the settings for connecting to a server.
	Dial func(config.Entry) dial.Options
	// Kind and Hint return the kind of an error and what it advises to do.
	Kind, Hint func(error) string
	// Drift returns how a server differs from what is locked of it, and the command that
	// shows that; two empty texts where it does not differ, or nothing is locked. locked
	// reports whether there was anything to compare with. Nil: nothing is compared.
	Drift func(ctx context.Context, entry config.Entry, c *runtime.Client) (text, fix string, locked bool)
	// Warnings are those of servers.json.
	Warnings []config.Problem
	// Turns bounds how many servers are started at once.
	Turns *proxy.StartLimiter
	// Shared reports that serve asks who calls.
	Shared bool
}

const (
	// defaultLimit bounds connecting, and asking for the tools, where settings do not;
	// a doctor must not wait for ever.
	defaultLimit = 30 * time.Second
	// shownFaults is how many faulty schemas are named.
	shownFaults = 5
)

// Server checks one server, each check as far as those before it allow.
func (d *Doctor) Server(ctx context.Context, entry config.Entry) *Report {
	r := &Report{Name: entry.Name, OK: true}
	start := time.Now()
	defer func() { r.took = time.Since(start) }()
	if !d.entry(r, entry) || !d.principals(r, entry) {
		return r
	}
	if entry.Command != "" && !d.runner(r, entry) {
		return r
	}
	d.connection(ctx, r, entry)
	return r
}

// entry checks what stands in servers.json, and the variables that it needs.
func (d *Doctor) entry(r *Report, entry config.Entry) bool {
	if p := entry.Fault; p != nil {
		r.Fail("config", "config", p.Message, orEdit(p.Remedy))
		return false
	}
	for _, p := range d.Warnings {
		if p.Server == entry.Name {
			r.Warn("config", p.Message, orEdit(p.Remedy))
		}
	}
	for _, place := range LiteralSecrets(entry.Raw) {
		r.Warn("secrets", place+" looks like a secret, and its text is in servers.json", literalFix(entry, place))
	}
	if entry.Disabled {
		r.Pass("config", "it is disabled: other commands do not use it")
	}
	_, err := entry.Expand(d.Dial(entry).Lookup)
	if unset, missing := errors.AsType[*config.VariableError](err); missing {
		r.Fail("variables", "config", withoutServer(err, entry.Name), exportLine(unset))
		return false
	}
	if _, named := errors.AsType[*config.PrincipalError](err); err != nil && !named {
		r.Fail("config", "config", withoutServer(err, entry.Name), orEdit(d.Hint(err)))
		return false
	}
	return true
}

// literalFix returns what to do about a secret in the file: the form of the placeholder.
func literalFix(entry config.Entry, place string) string {
	if name, ok := strings.CutPrefix(place, "env."); ok {
		return orEdit(`write "${` + name + `}" for its text, and export ` + name + "=…")
	}
	return orEdit(`write "${NAME}" for its text, and export NAME=…`)
}

// exportLine returns the command that sets variables.
func exportLine(unset *config.VariableError) string {
	var names []string
	for _, m := range unset.Missing {
		if !slices.Contains(names, m.Variable+"=…") {
			names = append(names, m.Variable+"=…")
		}
	}
	return "export " + strings.Join(names, " ") + remarkSign + "or give a default: ${NAME:-text}"
}

// runner checks that the command is there.
func (d *Doctor) runner(r *Report, entry config.Entry) bool {
	path, err := dial.FindCommand(entry, d.Dial(entry))
	if err == nil {
		r.Pass("runner", path)
		return true
	}
	fix := dial.InstallCommand(entry.Command, err)
	if fix == "" {
		fix = orEdit(d.Hint(err))
	}
	r.Fail("runner", "connect", withoutServer(err, entry.Name), fix)
	return false
}

// connection connects as every command does, and looks at what the server is and has.
func (d *Doctor) connection(ctx context.Context, r *Report, entry config.Entry) {
	o := unattended(d.Dial(entry), entry)
	start := time.Now()
	c, err := dial.Dial(ctx, entry, o)
	if err != nil {
		d.refused(r, entry, err)
		return
	}
	defer func() { _ = c.Close() }() // a server that ends badly has answered
	took := time.Since(start).Round(10 * time.Millisecond)
	switch {
	case entry.Command == "":
		r.Pass("reachable", "answered in "+took.String())
		r.credentials(entry, o)
	case dial.Fetches(entry.Command):
		r.Pass("package", dial.RunnerName(entry.Command)+" found and started it")
		fallthrough
	default:
		r.Pass("starts", "started in "+took.String())
	}
	info := c.Info()
	r.Pass("handshake", strings.TrimSpace(info.Implementation.Name+" "+info.Implementation.Version))
	r.Pass("era", "protocol "+info.Version+" ("+era(info.Version)+")")
	d.tools(ctx, r, entry, c)
	d.drift(ctx, r, entry, c)
	if sample := dial.Malformed(c); sample != "" {
		r.Warn("output", fmt.Sprintf("it writes to standard output what is no MCP message: %q", sample), line(command(entry, "run"), "let it write that to standard error; mcpctl passes such lines over"))
	}
}

// unattended returns settings with which connecting ends in any case, and nobody is asked
// to log in.
func unattended(o dial.Options, entry config.Entry) dial.Options {
	if o.ConnectTimeout < 0 || o.ConnectTimeout == 0 && entry.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultLimit
	}
	if o.Auth != nil {
		a := *o.Auth
		a.Prompter = nil
		o.Auth = &a
	}
	return o
}

func era(version string) string {
	if version >= revision.Modern {
		return "modern"
	}
	return "legacy"
}

// credentials reports how a remote server knows us, and a token that ends soon.
func (r *Report) credentials(entry config.Entry, o dial.Options) {
	for name := range entry.Headers {
		if strings.EqualFold(name, "Authorization") {
			r.Pass("auth", "by the header of the entry")
			return
		}
	}
	x, err := entry.Expand(o.Lookup)
	server, badURL := url.Parse(x.URL.Reveal())
	if err != nil || badURL != nil || o.Auth == nil {
		return
	}
	tokens, err := o.Auth.Store.Tokens(auth.Canonical(server))
	switch {
	case err != nil:
		r.Warn("auth", err.Error(), auth.LoginCommand(entry.Name))
	case len(tokens) > 0 && tokens[0].NeedsLogin(time.Now()):
		r.Warn("auth", "the token ends "+tokens[0].Expires.Format(time.DateTime)+" and cannot be refreshed", auth.LoginCommand(entry.Name))
	case len(tokens) > 0:
		r.Pass("auth", "logged in")
	case entry.Auth != nil:
		r.Pass("auth", "by auth of the entry")
	default:
		r.Pass("auth", "no login is wanted")
	}
}

// refused reports why a connection was not made.
func (d *Doctor) refused(r *Report, entry config.Entry, err error) {
	kind, message, fix := d.Kind(err), withoutServer(err, entry.Name), d.Hint(err)
	if strings.HasPrefix(fix, "run it by hand") {
		fix = "mcpctl run " + entry.Name // in the environment that it fails in
	}
	unnamed, isUnnamed := errors.AsType[*auth.UnnamedError](err)
	refused, isRefused := errors.AsType[*dial.CredentialError](err)
	lacks, isRunner := errors.AsType[*dial.RunnerError](err)
	switch {
	case kind == "auth" && entry.PerPrincipal():
		r.Pass("reachable", "it wants a login, which is each principal's own")
	case kind == "auth" && isUnnamed && entry.Raw != nil:
		command, remark := unnamed.Fix(entry.Name)
		r.Unnamed = unnamed
		r.Fail("auth", kind, message, line(command, remark))
	case isRefused:
		r.Fail("auth", kind, message, line(refused.Fix()))
	case kind == "auth":
		r.Fail("auth", kind, message, line(auth.LoginCommand(entry.Name), fix))
	case kind == "timeout" && dial.Fetches(entry.Command):
		r.Fail("handshake", kind, message, command(entry, "doctor")+" --connect-timeout 5m")
	case kind == "timeout" && fix == "":
		r.Fail("handshake", kind, message, command(entry, "doctor")+" --connect-timeout 2m")
	case kind == "timeout":
		r.Fail("handshake", kind, message, line(command(entry, "run"), fix))
	case isRunner:
		id := "runner"
		if lacks.Package != "" {
			id = "package"
		}
		r.Fail(id, kind, message, line(lacks.Fix()))
	case kind == "connect" && entry.Command != "":
		r.Fail("starts", kind, message, line(command(entry, "run"), fix))
	case kind == "connect":
		r.Fail("reachable", kind, message, line(command(entry, "ping"), fix))
	case kind == "protocol" && entry.Command != "":
		r.Fail("output", kind, message, line(command(entry, "run")+" </dev/null", fix))
	default:
		r.Fail("handshake", kind, message, line(command(entry, "ping")+" -vv", fix))
	}
}

// command returns a command of mcpctl about a server, which need not be in servers.json.
func command(entry config.Entry, verb string) string {
	if entry.Raw == nil && entry.URL != "" {
		return "mcpctl --url " + config.DisplayURL(entry.URL) + " " + verb
	}
	return "mcpctl " + verb + " " + entry.Name
}

// tools lists the tools and checks their schemas. It calls none.
func (d *Doctor) tools(ctx context.Context, r *Report, entry config.Entry, c *runtime.Client) {
	if !c.Info().Has("tools") {
		r.Pass("tools", "it offers none")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, defaultLimit)
	defer cancel()
	tools, err := c.ListTools(ctx)
	if err != nil {
		r.Fail("tools", d.Kind(err), "tools/list: "+withoutServer(err, entry.Name), line(command(entry, "tools")+" -vv", d.Hint(err)))
		return
	}
	r.Pass("tools", plain.Count(len(tools), "tool"))
	var faults []string
	for _, t := range tools {
		faults = append(faults, schemaFaults(t)...)
	}
	if len(faults) == 0 {
		r.Pass("schemas", "all can be used")
		return
	}
	text := strings.Join(faults[:min(len(faults), shownFaults)], "; ")
	if more := len(faults) - shownFaults; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	r.Fail("schemas", "protocol", text, line(command(entry, "tools")+" --schema", "tell its maker; call --no-validate sends arguments unchecked"))
}

// drift compares the server with what is locked of it.
func (d *Doctor) drift(ctx context.Context, r *Report, entry config.Entry, c *runtime.Client) {
	if d.Drift == nil || entry.Raw == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, defaultLimit)
	defer cancel()
	switch text, fix, locked := d.Drift(ctx, entry, c); {
	case text != "":
		r.Warn("lock", text, fix)
	case locked:
		r.Pass("lock", "it is as it was locked")
	}
}

// schemaFaults says what is wrong with the schemas of a tool.
func schemaFaults(t runtime.Tool) []string {
	var faults []string
	check := func(what string, raw json.RawMessage) {
		s, err := schema.Parse(raw)
		if err == nil {
			err = s.Sound()
		}
		if err != nil {
			faults = append(faults, t.Name+": "+what+": "+strings.TrimPrefix(err.Error(), "schema: "))
		}
	}
	if len(t.InputSchema) == 0 {
		faults = append(faults, t.Name+": it has no inputSchema")
	} else {
		check("inputSchema", t.InputSchema)
	}
	if len(t.OutputSchema) > 0 {
		check("outputSchema", t.OutputSchema)
	}
	return slices.Compact(faults)
}

// withoutServer returns the text of an error, whose line names the server already.
func withoutServer(err error, name string) string {
	text := err.Error()
	for _, prefix := range []string{name + ": ", "server \"" + name + "\": ", "connect " + name + ": "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
