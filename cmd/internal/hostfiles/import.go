package hostfiles

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Import copies servers of hosts to servers.json.
type Import struct {
	*Command
	// All takes everything without a question, DryRun writes nothing. Force also takes
	// servers without what limits them at their host.
	All, DryRun, Force bool
	// Project says that servers.json is that of the project, for hints.
	Project bool
	// From is the host or gateway whose files are read, "" for those whose form they have.
	From string

	// Stdin reads standard input.
	Stdin func(context.Context) ([]byte, error)
	// Update edits servers.json; nil is config.Update.
	Update func(edit func(*config.File) error) error
	// Views is where the views of gateways go.
	Views ViewStore

	asker ui.Asker
	as    *hosts.Host // of From
	// silent says that files that cannot be read are not named.
	silent bool
	found  []*candidate
	views  []*viewed
	left   []left
	taken  map[string][]config.Entry // those of servers.json, by identity
	names  map[string]bool           // aliases that are in use
}

// What becomes of a server.
const (
	actionAdd     = "add"
	actionPresent = "present" // it is in servers.json
	actionJoined  = "joined"  // another host has it as well
	actionFound   = "found"   // nobody was there to be asked about it
	actionStopped = "stopped" // what limits it at the host would be lost
	actionSkip    = "skip"
)

// candidate is one server of a host.
type candidate struct {
	Host   string          `json:"host"`
	Scope  string          `json:"scope"`
	File   string          `json:"file"`
	Name   string          `json:"name"`
	Action string          `json:"action"`
	Alias  string          `json:"alias,omitempty"`
	Entry  json.RawMessage `json:"entry,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Notes  []string        `json:"notes,omitempty"`
	Lost   []hosts.Loss    `json:"lost,omitempty"`

	at    *hosts.Location
	entry config.Entry
}

// Run imports from the hosts and files that words name, from all hosts without any.
func (im *Import) Run(ctx context.Context, words []string) error {
	im.asker = im.Asker()
	if im.All {
		im.asker = &ui.NonInteractive{}
	}
	f, err := im.Load()
	if err != nil {
		return err
	}
	im.taken, im.names = map[string][]config.Entry{}, map[string]bool{}
	for _, e := range f.Entries() {
		im.names[e.Name] = true
		if e.Fault == nil {
			id := identity(e)
			im.taken[id] = append(im.taken[id], e)
		}
	}
	if im.From != "" {
		if im.as, err = host(im.From); err != nil {
			return err
		}
		if !slices.ContainsFunc(words, isFile) {
			return ui.Usage("import: --from needs a file").WithHint("mcpctl import FILE --from %s", im.From)
		}
	}
	if err := im.read(ctx, words); err != nil {
		return err
	}
	chosen := len(words) > 0 || im.All || im.DryRun
	if err := im.decide(ctx, chosen); err != nil {
		return err
	}
	if err := im.decideViews(); err != nil {
		return err
	}
	if !im.DryRun && slices.ContainsFunc(im.found, func(c *candidate) bool { return c.Action == actionAdd }) {
		update := im.Update
		if update == nil {
			update = func(edit func(*config.File) error) error { return config.Update(im.ConfigPath, edit) }
		}
		if err := update(im.write); err != nil {
			return err
		}
	}
	if !im.DryRun {
		if err := im.writeViews(); err != nil {
			return err
		}
	}
	if err := im.print(words); err != nil {
		return err
	}
	return im.stopped(words)
}

// stopped is the error for servers that were not imported because they would be less
// limited than at their host, nil for none.
func (im *Import) stopped(words []string) error {
	n := 0
	for _, c := range im.found {
		if c.Action == actionStopped {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	command := append([]string{"mcpctl import"}, words...)
	if im.From != "" {
		command = append(command, "--from", im.From)
	}
	if im.Project {
		command = append(command, "--project")
	}
	return &ui.Error{
		Kind:   "config",
		Err:    fmt.Errorf("%s not imported: what limits tools or users at the host would be lost", plain.Count(n, "server")),
		Remedy: strings.Join(append(command, "--force"), " ") + " imports without it",
	}
}

// open reads a file, which may be a named pipe; "-" is standard input.
func (im *Import) open(ctx context.Context, word string) (*hosts.File, error) {
	if word == "-" {
		text, err := im.Stdin(ctx)
		if err != nil {
			return nil, err
		}
		return hosts.OpenText("standard input", text, im.as, im.Place)
	}
	if info, err := os.Stat(word); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return hosts.OpenAs(word, im.as, im.Place)
	}
	text, err := args.ReadFile(word, args.MaxInput)
	if err != nil {
		return nil, err
	}
	return hosts.OpenText(word, text, im.as, im.Place)
}

// read finds the servers of the hosts and files.
func (im *Import) read(ctx context.Context, words []string) error {
	if len(words) == 0 {
		for _, h := range slices.Concat(hosts.All(), hosts.Gateways()) {
			for _, l := range h.Locations(im.Place) {
				f, _, err := l.Load()
				if err != nil {
					if !im.silent {
						im.UI.Info("warning: %s: %v", h.Name, err)
					}
					continue
				}
				im.add(f)
			}
		}
		return nil
	}
	for _, word := range words {
		if strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://") {
			return ui.Usage("mcpctl import reads files: %s is a URL", config.DisplayURL(word)).WithHint("curl -fsSL URL | mcpctl import -")
		}
		if isFile(word) {
			f, err := im.open(ctx, word)
			switch {
			case errors.Is(err, hosts.ErrForm):
				return &ui.Error{Err: err, Remedy: `as in {"mcpServers": {"NAME": {"command": "npx"}}}; mcpctl import --help names the hosts whose forms it knows`}
			case err != nil:
				return err
			}
			im.add(f)
			continue
		}
		h, err := host(word)
		if err != nil {
			return err
		}
		if err := im.readHost(h); err != nil {
			return err
		}
	}
	return nil
}

// isFile reports whether a word names a file, not a host.
func isFile(word string) bool { return word == "-" || strings.ContainsAny(word, `/\.`) }

// readHost adds the servers of a host. It is an error if the host has no file.
func (im *Import) readHost(h *hosts.Host) error {
	all := h.Locations(im.Place)
	if len(all) == 0 {
		return ui.Usage("%s keeps no file in a known place: name the file", h.Name).WithHint("mcpctl import FILE")
	}
	found := false
	for _, l := range all {
		f, exists, err := l.Load()
		if err != nil {
			return err
		}
		found = found || exists
		im.add(f)
	}
	if !found {
		return &ui.Error{Kind: "config", Err: fmt.Errorf("%s has no file: %s is not there", h.Name, im.short(all[0].Path))}
	}
	return nil
}

// add adds the servers of one file.
func (im *Import) add(f *hosts.File) {
	im.addViews(f)
	l := f.Location
	dir := ""
	if l.Scope != hosts.ScopeUser {
		dir = im.Place.Dir
	}
	for _, name := range f.Names() {
		in := f.Import(name, dir)
		c := &candidate{Host: l.Host.Name, Scope: l.Scope, File: l.Path, Name: name, Notes: in.Notes, Lost: in.Lost, at: l}
		im.found = append(im.found, c)
		switch {
		case in.Skip != "":
			c.skip(in.Skip)
			continue
		case in.Own != "":
			c.Action, c.Alias, c.Reason = actionPresent, in.Own, "written by mcpctl export"
			continue
		}
		c.Entry = in.Entry
		var err error
		if c.entry, err = parse(name, in.Entry); err != nil {
			c.skip(err.Error())
		}
	}
}

// stop leaves a server out because of what it would lose.
func (c *candidate) stop() {
	names := make([]string, len(c.Lost))
	for i, l := range c.Lost {
		names[i] = l.Setting
	}
	c.Action, c.Reason, c.Entry = actionStopped, strings.Join(names, ", ")+" would be lost", nil
}

func (c *candidate) skip(why string) { c.Action, c.Reason, c.Entry = actionSkip, why, nil }

// decide sets the action and the alias of each server. Where nothing was chosen, it asks
// about each host.
func (im *Import) decide(ctx context.Context, chosen bool) error {
	first := map[string][]*candidate{}
	answers := map[string]bool{}
	for _, c := range im.found {
		if c.Action != "" {
			continue
		}
		id := identity(c.entry)
		if all := im.taken[id]; len(all) > 0 {
			entry := all[len(all)-1]
			if i := slices.IndexFunc(all, func(e config.Entry) bool { return differing(c.entry, e) == "" }); i >= 0 {
				entry = all[i]
			}
			c.Action, c.Alias, c.Reason = actionPresent, entry.Name, "servers.json has it"+differing(c.entry, entry)
			continue
		}
		if len(c.Lost) > 0 && !im.Force {
			if yes, err := im.chosen(ctx, c, chosen, answers); err != nil {
				return err
			} else if yes {
				c.stop()
			}
			continue
		}
		other, err := im.joined(ctx, c, first[id])
		if err != nil {
			return err
		}
		if other != nil {
			c.Action, c.Alias, c.Reason = actionJoined, other.Alias, "the same as "+other.Name+" of "+other.Host+differing(c.entry, other.entry)
			continue
		}
		if c.at.Host.Confidence == hosts.Unsure && !im.DryRun {
			c.skip("the form of " + c.at.Host.Title + " is known from one source only: --dry-run shows what would be added")
			continue
		}
		if yes, err := im.chosen(ctx, c, chosen, answers); err != nil {
			return err
		} else if !yes {
			continue
		}
		c.Action, c.Alias = actionAdd, config.FreeAlias(cmp.Or(config.CleanAlias(c.Name), c.Host+"-server"), c.Host, im.names)
		im.names[c.Alias] = true
		first[id] = append(first[id], c)
		if err := im.placeholders(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// chosen reports whether a server is imported: all of them are, or its host is by the answer
// of a person. Otherwise it sets the action.
func (im *Import) chosen(ctx context.Context, c *candidate, all bool, answers map[string]bool) (bool, error) {
	if all {
		return true, nil
	}
	yes, err := im.wants(ctx, c, answers)
	switch {
	case errors.Is(err, ui.ErrNoAnswer):
		c.Action = actionFound
		return false, nil
	case err != nil:
		return false, err
	case !yes:
		c.skip("not chosen")
	}
	return yes, nil
}

// joined returns the server before, of those that run the same, that a server is imported
// with, nil for none. Where their names, environments or headers differ, a person decides.
// Without one, two that differ in what they are given are two: they may be two accounts.
func (im *Import) joined(ctx context.Context, c *candidate, before []*candidate) (*candidate, error) {
	if len(before) == 0 {
		return nil, nil
	}
	other := before[0]
	for _, b := range before {
		if differing(c.entry, b.entry) == "" {
			other = b
		}
	}
	differs := differing(c.entry, other.entry)
	if differs == "" && c.Name == other.Name {
		return other, nil
	}
	yes, err := im.asker.Confirm(ctx, ui.Question{Message: fmt.Sprintf("%s of %s runs the same as %s of %s%s. Import it once", plain.Line(c.Name), c.Host, plain.Line(other.Name), other.Host, differs)})
	if errors.Is(err, ui.ErrNoAnswer) {
		yes, err = differs == "", nil
	}
	if err != nil || !yes {
		return nil, err
	}
	return other, nil
}

// differing says, for the end of a sentence, what an entry gives a server other than another
// entry does; "" for nothing.
func differing(a, b config.Entry) string {
	var names []string
	if !maps.Equal(a.Env, b.Env) {
		names = append(names, "env")
	}
	if !maps.Equal(a.Headers, b.Headers) {
		names = append(names, "headers")
	}
	if a.Cwd != b.Cwd {
		names = append(names, "cwd")
	}
	if !bytes.Equal(a.Auth, b.Auth) {
		names = append(names, "auth")
	}
	var own, other map[string]json.RawMessage
	if json.Unmarshal(a.Raw, &own) == nil && json.Unmarshal(b.Raw, &other) == nil {
		for _, name := range limits() {
			if own[name] != nil && !bytes.Equal(own[name], other[name]) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", with other " + strings.Join(names, " and ")
}

// limits are the members of an entry that say what a server may do and who shares it.
func limits() []string {
	return []string{"cli", "cliOnly", "cliDeny", "cliDepth", "cliRoots", "cliArgs", "tools", "pin", "isolation", "labels", "trustAnnotations", "allowInsecureHttp", "missingEnv"}
}

// wants asks once for each host whether its servers are imported.
func (im *Import) wants(ctx context.Context, c *candidate, answers map[string]bool) (bool, error) {
	key := c.File + c.Scope
	if yes, asked := answers[key]; asked {
		return yes, nil
	}
	var names []string
	for _, o := range im.found {
		if o.File == c.File && o.Scope == c.Scope && o.Action == "" {
			names = append(names, plain.Line(o.Name))
		}
	}
	yes, err := im.asker.Confirm(ctx, ui.Question{Message: fmt.Sprintf("Import %s from %s (%s)", strings.Join(names, ", "), c.at.Host.Title, im.short(c.File))})
	if err == nil {
		answers[key] = yes
	}
	return yes, err
}

// placeholders asks of each text that looks like a secret whether a placeholder takes its
// place. Without an answer it stays, with a warning. The text itself is never shown.
func (im *Import) placeholders(ctx context.Context, c *candidate) error {
	for _, place := range doctor.LiteralSecrets(c.Entry) {
		kind, name, ok := strings.Cut(place, ".")
		values := map[string]map[string]string{"env": c.entry.Env, "headers": c.entry.Headers}[kind]
		if !ok || values == nil {
			c.Notes = append(c.Notes, place+" looks like a secret, and its text goes into servers.json")
			continue
		}
		variable := name
		if kind == "headers" {
			variable = scaffold.PlaceholderName(c.Alias, name)
		}
		form := values[name][:secret.AfterScheme(values[name])] + "${" + variable + "}"
		yes, err := im.asker.Confirm(ctx, ui.Question{
			Message: fmt.Sprintf("%s of %s looks like a secret. Write %s instead", place, plain.Line(c.Name), form),
			Help:    "${NAME} is replaced by the environment variable NAME when the server is used.",
		})
		switch {
		case errors.Is(err, ui.ErrNoAnswer):
			c.Notes = append(c.Notes, place+" looks like a secret, and its text goes into servers.json")
		case err != nil:
			return err
		case yes:
			if err := c.replace(kind, name, form); err != nil {
				return err
			}
			c.Notes = append(c.Notes, "set "+variable+" before use: its value is in "+im.short(c.File))
		}
	}
	return nil
}

// replace writes another text into a member of the entry.
func (c *candidate) replace(kind, name, text string) error {
	entry, err := hosts.Replace(c.Entry, text, kind, name)
	if err != nil {
		return err
	}
	c.Entry = entry
	c.entry, err = parse(c.Name, entry)
	return err
}

// write adds the servers to servers.json.
func (im *Import) write(f *config.File) error {
	for _, c := range im.found {
		if c.Action == actionAdd {
			if err := f.Set(c.Alias, c.Entry, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// result returns an action as the RESULT column of a table shows it.
func (im *Import) result(action string) string {
	switch {
	case action == actionAdd && im.DryRun:
		return "would add"
	case action == actionAdd:
		return "added"
	}
	return action
}

// print says what became of each server.
func (im *Import) print(words []string) error {
	if im.UI.WantJSON() {
		servers := make([]candidate, 0, len(im.found))
		for _, c := range im.found {
			shown := *c
			if shown.Entry != nil {
				shown.Entry = config.MaskEntry(shown.Entry)
			}
			servers = append(servers, shown)
		}
		out := map[string]any{"servers": servers}
		if len(im.views) > 0 {
			out["views"] = im.views
		}
		if len(im.left) > 0 {
			out["left"] = im.left
		}
		return im.UI.EncodeJSON(out)
	}
	switch {
	case len(im.found) == 0 && len(im.views) > 0:
		return im.printViews()
	case len(im.found) == 0 && len(words) > 0:
		im.UI.Info("no servers in %s", plain.Line(strings.Join(words, ", ")))
		return nil
	case len(im.found) == 0:
		im.UI.Info("no host on this machine has servers in its files")
		return nil
	}
	var rows [][]string
	added := 0
	for _, c := range im.found {
		if c.Action == actionAdd {
			added++
		}
		rows = append(rows, []string{plain.Line(c.Name), c.Host, c.Scope, im.result(c.Action), c.Alias, plain.Line(c.Reason)})
	}
	if err := im.UI.Table(ui.Table{Headers: []string{"NAME", "HOST", "SCOPE", "RESULT", "ALIAS", "REASON"}, Rows: rows, Keep: []int{4}}); err != nil {
		return err
	}
	for _, c := range im.found {
		taken := c.Action == actionAdd
		for _, note := range c.Notes {
			if taken {
				im.UI.Info("%s of %s: %s", c.Name, c.Host, note)
			}
		}
		for _, l := range c.Lost {
			if what := "would be lost"; taken || c.Action == actionStopped || c.Action == actionFound {
				if taken {
					what = "is left out"
				}
				im.UI.Info("%s of %s: %s %s: %s", c.Name, c.Host, l.Setting, what, l.Instead)
			}
		}
	}
	if slices.ContainsFunc(im.found, func(c *candidate) bool { return c.Action == actionFound }) {
		im.UI.Info("hint: mcpctl import --all, or mcpctl import HOST")
	}
	return im.printViews()
}
