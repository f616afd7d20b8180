package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// serverSource is where one server comes from.
type serverSource struct {
	Name  string `json:"name"`
	Layer string `json:"layer"`
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"`
	// Covers are further layers that have the alias and do not count.
	Covers []string `json:"covers,omitempty"`
	// State is why the layer is not used, "" for one that is.
	State string `json:"state,omitempty"`
}

// PrintSources prints where each server and each setting comes from.
func (p *ConfigCommand) PrintSources() error {
	set, err := p.Layers()
	if err != nil {
		return err
	}
	all, err := settings.Sources(p.Sources)
	if err != nil {
		return err
	}
	servers := serverSources(set)
	if p.UI.WantJSON() {
		return p.UI.EncodeJSON(map[string]any{"servers": servers, "settings": all})
	}
	var rows [][]string
	for _, s := range servers {
		covers := ""
		if len(s.Covers) > 0 {
			covers = "goes before " + strings.Join(s.Covers, ", ")
		}
		if s.State != "" {
			covers = "not used: " + s.State
		}
		rows = append(rows, []string{plain.Line(s.Name), s.Layer, fmt.Sprintf("%s:%d", plain.Line(s.File), s.Line), covers})
	}
	if len(rows) > 0 {
		if err := p.UI.Table(ui.Table{Headers: []string{"SERVER", "LAYER", "FILE", "REMARK"}, Rows: rows, Keep: []int{2}}); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(p.UI.Out); err != nil {
			return err
		}
	}
	rows = nil
	for _, s := range all {
		rows = append(rows, []string{s.Name, plain.Line(s.Value), s.Source, plain.Line(s.From)})
	}
	return p.UI.Table(ui.Table{Headers: []string{"SETTING", "VALUE", "SOURCE", "FROM"}, Rows: rows, Keep: []int{3}})
}

// serverSources returns the servers of all layers, the nearest layer first, and for each
// alias the one that counts.
func serverSources(set *layers.Set) []serverSource {
	out := []serverSource{}
	counts := map[string]int{} // alias to the index of the one that counts
	for _, l := range slices.Backward(set.Layers) {
		if l.File == nil {
			continue
		}
		for _, e := range l.File.Entries() {
			s := serverSource{Name: e.Name, Layer: l.Name, File: l.Path, Line: configedit.Line(l.File.Bytes(), configedit.Names(rootKey, e.Name))}
			if l.State != layers.Used {
				s.State = string(l.State)
				out = append(out, s)
				continue
			}
			if at, taken := counts[e.Name]; taken {
				out[at].Covers = append(out[at].Covers, l.Name)
				continue
			}
			counts[e.Name] = len(out)
			out = append(out, s)
		}
	}
	return out
}
