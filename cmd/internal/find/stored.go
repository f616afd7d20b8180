package find

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// List is the tools of a server, as the server sent them.
type List struct {
	Server string
	Items  []json.RawMessage
}

// Stored are the tools of servers as they were last listed.
type Stored struct {
	Lists    []List
	Servers  []config.Entry // of which they are
	unlisted []string       // servers that never were
}

// Load returns the stored tools of servers, in their order.
func Load(ctx context.Context, lists KnownLists, servers []config.Entry) Stored {
	out := Stored{Servers: servers}
	stored := lists.Load(ctx, servers, "tools")
	for _, e := range servers {
		switch listed, ok := stored[e.Name]; {
		case ok:
			out.Lists = append(out.Lists, List{e.Name, listed.Items})
		case e.Fault == nil:
			out.unlisted = append(out.unlisted, ui.CleanLine(e.Name))
		}
	}
	return out
}

// Warn says which servers were never listed.
func (s Stored) Warn(u *ui.UI) {
	if len(s.unlisted) > 0 {
		u.Info("not listed yet: %s (mcpctl tools %s)", strings.Join(s.unlisted, ", "), clitool.Line(s.unlisted[:1]))
	}
}

// Print prints tools that were found; whole is what JSON has of them, and none says that
// there are none.
func Print(u *ui.UI, hits []Hit, whole any, none string) error {
	if u.WantJSON() {
		return u.EncodeJSON(map[string]any{"tools": whole})
	}
	if len(hits) == 0 {
		u.Info("%s", none)
		return nil
	}
	rows := make([][]string, len(hits))
	for i, h := range hits {
		rows[i] = []string{h.Server, h.Name, h.Line}
	}
	return u.NameTable([]string{"SERVER", "TOOL", "MATCH"}, rows)
}

// PrintRanked is [Print] of tools with their scores.
func PrintRanked(u *ui.UI, ranked []Ranked) error {
	hits := make([]Hit, len(ranked))
	for i, r := range ranked {
		hits[i] = r.Hit
	}
	return Print(u, hits, ranked, "no tool matches")
}
