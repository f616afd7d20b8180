package hostfiles

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// ViewStore is serve.views of config.yaml.
type ViewStore interface {
	// Names returns the views that there are.
	Names() ([]string, error)
	// Set writes a new view.
	Set(name string, view json.RawMessage) error
	// Exposed returns the name under which serve shows a tool of a server, of all that there are.
	Exposed(servers []string, server, tool string) string
}

// viewed is one view of a gateway.
type viewed struct {
	Host   string          `json:"host"`
	File   string          `json:"file"`
	Name   string          `json:"name"`
	Action string          `json:"action"`
	View   json.RawMessage `json:"view,omitempty"`
	Reason string          `json:"reason,omitempty"`

	of hosts.View
}

// left is what a gateway's file says beside its servers, and mcpctl has no place for.
type left struct {
	Host     string   `json:"host"`
	File     string   `json:"file"`
	Settings []string `json:"settings"`
}

// addViews notes what the file of a gateway says beside its servers.
func (im *Import) addViews(f *hosts.File) {
	l := f.Location
	for _, v := range f.Views() {
		im.views = append(im.views, &viewed{Host: l.Host.Name, File: l.Path, Name: v.Name, of: v})
	}
	if settings := f.Left(); len(settings) > 0 {
		im.left = append(im.left, left{l.Host.Name, l.Path, settings})
	}
}

// decideViews says what becomes of each view, once the servers have their aliases.
func (im *Import) decideViews() error {
	if len(im.views) == 0 {
		return nil
	}
	names, err := im.Views.Names()
	if err != nil {
		return err
	}
	for _, v := range im.views {
		v.Name = viewName(v.Name, v.Host)
		if slices.Contains(names, v.Name) {
			v.Action, v.Reason = actionPresent, "config.yaml has a view of that name"
			continue
		}
		if v.View = im.view(v); v.View == nil {
			v.Action, v.Reason = actionSkip, "none of its servers is imported"
			continue
		}
		v.Action = actionAdd
		names = append(names, v.Name)
	}
	return nil
}

// viewName returns a name that a view may have.
func viewName(name, host string) string {
	clean := strings.Trim(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' {
			return r
		}
		return '-'
	}, name), "-")
	if clean == "" {
		return host
	}
	return clean[:min(len(clean), 64)]
}

// view returns a view as config.yaml has it, nil for one whose servers are all missing.
func (im *Import) view(v *viewed) json.RawMessage {
	aliases := im.aliases(v.Host)
	servers := make([]string, 0, len(im.names))
	for alias := range im.names {
		servers = append(servers, alias)
	}
	slices.Sort(servers)
	var missing []string
	exposed := func(server, tool string) string {
		alias := aliases[server]
		if alias == "" {
			if !slices.Contains(missing, server) {
				missing = append(missing, server)
			}
			return ""
		}
		return im.Views.Exposed(servers, alias, tool)
	}
	out := map[string]any{}
	if v.of.Tools != nil {
		var patterns []string
		shown := false
		for _, s := range v.of.Tools {
			tools := s.Patterns
			if tools == nil {
				tools = []string{"*"}
			}
			for _, tool := range tools {
				switch pattern := exposed(s.Server, tool); {
				case pattern == "":
				case s.Not:
					patterns = append(patterns, "!"+pattern)
				default:
					patterns, shown = append(patterns, pattern), true
				}
			}
		}
		if !shown {
			return nil
		}
		out["tools"] = patterns
	}
	if v.of.Search {
		out["list"] = "search"
	}
	changes := map[string]map[string]string{}
	for _, c := range v.of.Changes {
		name := exposed(c.Server, c.Tool)
		if name == "" {
			continue
		}
		changes[name] = map[string]string{}
		for member, text := range map[string]string{"name": c.Name, "title": c.Title, "description": c.Description} {
			if text != "" {
				changes[name][member] = text
			}
		}
	}
	if len(changes) > 0 {
		out["override"] = changes
	}
	if len(out) == 0 {
		return nil
	}
	if len(missing) > 0 {
		v.Reason = "without " + strings.Join(missing, ", ") + ", not imported"
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return raw
}

// aliases returns what the servers of a gateway are called in servers.json: those of this
// import, and others of the same name.
func (im *Import) aliases(host string) map[string]string {
	out := map[string]string{}
	for alias := range im.names {
		out[alias] = alias
	}
	for _, c := range im.found {
		if c.Host == host {
			out[c.Name] = c.Alias
		}
	}
	return out
}

// writeViews writes the views to config.yaml.
func (im *Import) writeViews() error {
	for _, v := range im.views {
		if v.Action == actionAdd {
			if err := im.Views.Set(v.Name, v.View); err != nil {
				return err
			}
		}
	}
	return nil
}

// printViews says what became of each view, and what was left out beside.
func (im *Import) printViews() error {
	var rows [][]string
	for _, v := range im.views {
		rows = append(rows, []string{v.Name, v.Host, im.result(v.Action), plain.Line(v.Reason)})
	}
	if len(rows) > 0 {
		if err := im.UI.Table(ui.Table{Headers: []string{"VIEW", "HOST", "RESULT", "REASON"}, Rows: rows, Keep: []int{0}}); err != nil {
			return err
		}
	}
	for _, l := range im.left {
		im.UI.Info("%s: mcpctl has no setting for %s", l.Host, plain.Line(strings.Join(l.Settings, ", ")))
	}
	if i := slices.IndexFunc(im.views, func(v *viewed) bool { return v.Action == actionAdd && !im.DryRun }); i >= 0 {
		im.UI.Info("hint: mcpctl tools --view %s; serve gives it to clients at /mcp/%[1]s", im.views[i].Name)
	}
	return nil
}
