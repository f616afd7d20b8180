package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// Report is what lists of tools cost, in the form of --json. Tokens are estimated.
type Report struct {
	// View is the view in which they are seen, "" for none.
	View string `json:"view,omitempty"`
	// Budget is how many tokens are allowed; 0 is no limit.
	Budget  int      `json:"budget,omitempty"`
	List    List     `json:"list"`
	Servers []Server `json:"servers"` // those that cost most first
}

// List is the list that a client gets of all servers together.
type List struct {
	All    int `json:"all"`    // tokens, with the definition of every tool
	Search int `json:"search"` // with tools that find and call them, and those that are pinned
	// Chosen is the form that clients get which do not search by themselves: all or search.
	Chosen views.Form `json:"chosen"`
}

// Server is the tools of one server.
type Server struct {
	Name   string `json:"name"`
	Tools  int    `json:"tools"`
	Tokens int    `json:"tokens"`
	// Results are those of its tools; nil where serve has had none.
	Results *Results `json:"results,omitempty"`
	// Largest are the tools that cost most, the first first.
	Largest []Tool `json:"largest"`
}

// Results is how many tokens results take that serve has had: half of them not more than
// P50, 99 % not more than P99.
type Results struct {
	Calls uint64 `json:"calls"`
	P50   int    `json:"p50"`
	P99   int    `json:"p99"`
}

// Tool is one tool.
type Tool struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// largest is how many tools of a server are named without --tools.
const largest = 3

// Of returns what the tools of servers cost, by their definitions as the servers list
// them. What is no tool costs as much and has no name. limit is how many tokens are
// allowed, 0 for any number; every names all tools.
func Of(lists []find.List, limit int, every bool) Report {
	r := Report{Budget: limit, Servers: []Server{}}
	for _, l := range lists {
		s := server(l, every)
		r.List.All += s.Tokens
		r.Servers = append(r.Servers, s)
	}
	slices.SortStableFunc(r.Servers, func(a, b Server) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return r
}

// Source is what reports are made of.
type Source struct {
	Serve settings.Serve
	// Servers are all that serve has, which names of tools depend on.
	Servers []config.Entry
	Lists   []find.List
	Results map[string]find.KnownResults // by server
	// Limit is how many tokens are allowed, 0 for any number. Every names all tools.
	Limit int
	Every bool
}

// Report returns what the tools cost that a view shows, all for nil.
func (s *Source) Report(v *views.View) Report {
	lists, pinned := s.Lists, 0
	if v != nil {
		all, trusted := find.OfServers(s.Serve, s.Servers, s.Lists)
		lists, pinned = In(v, all, trusted)
	}
	r := Of(lists, s.Limit, s.Every)
	r.Choose(s.Serve, v, lists)
	r.List.Search += pinned
	r.Measure(s.Results)
	return r
}

// WithBudget returns the reports of the views that have a budget.
func (s *Source) WithBudget(all *views.Set) (out []Report) {
	for _, name := range all.Names() {
		if v := all.View(name); v.Budget() > 0 {
			out = append(out, s.Report(v))
		}
	}
	return out
}

// Over says which lists cost more than is allowed, "" for none.
func Over(all []Report) string {
	var over []string
	for _, r := range all {
		if r.Over() {
			what := "the tools take"
			if r.View != "" {
				what = "view " + r.View + " takes"
			}
			over = append(over, fmt.Sprintf("%s %d tokens, allowed are %d", what, r.Cost(), r.Budget))
		}
	}
	return strings.Join(over, "; ")
}

// Choose adds what the tools cost if they are to be searched, by serve's settings, and which
// form a client gets. View is that of the lists, nil for none.
func (r *Report) Choose(s settings.Serve, v *views.View, lists []find.List) {
	counts := make([]proxy.ToolCount, len(lists))
	for i, l := range lists {
		counts[i] = proxy.ToolCount{Server: l.Server, Tools: len(l.Items)}
	}
	form, most := views.Form(s.List), s.Budget
	r.List.Search = tokens.Estimate(proxy.SearchTools(!s.Prefix, counts))
	if v != nil {
		r.View, form, most = v.Name(), v.Form(), cmp.Or(v.Budget(), s.Budget)
		r.Budget = cmp.Or(r.Budget, v.Budget())
	}
	if v.Pages() {
		read := tokens.Estimate(proxy.ReadTool(!s.Prefix))
		r.List.All += read
		r.List.Search += read
	}
	r.List.Chosen = views.ListAll
	if form == views.ListSearch || form == views.ListAuto && r.List.All > most {
		r.List.Chosen = views.ListSearch
	}
}

// Measure adds the sizes of results, by server.
func (r *Report) Measure(results map[string]find.KnownResults) {
	for i := range r.Servers {
		if b, ok := results[r.Servers[i].Name]; ok {
			r.Servers[i].Results = &Results{b.Calls, tokens.OfBytes(b.P50), tokens.OfBytes(b.P99)}
		}
	}
}

// In returns the tools that a view shows, as it shows them, and about how many tokens the
// pinned ones take. Trusted says whose annotations are believed.
func In(v *views.View, all *find.Tools, trusted func(server string) bool) (lists []find.List, pinned int) {
	shown, first := all.In(v, trusted)
	for i, t := range shown {
		if i < first {
			pinned += tokens.Estimate(t.Definition)
		}
		at := slices.IndexFunc(lists, func(l find.List) bool { return l.Server == t.Server })
		if at < 0 {
			at, lists = len(lists), append(lists, find.List{Server: t.Server})
		}
		lists[at].Items = append(lists[at].Items, t.Definition)
	}
	return lists, pinned
}

func server(l find.List, every bool) Server {
	out := Server{Name: l.Server, Tools: len(l.Items), Largest: []Tool{}}
	for _, definition := range l.Items {
		var t runtime.Tool
		_ = json.Unmarshal(definition, &t)
		n := tokens.Estimate(definition)
		out.Tokens += n
		out.Largest = append(out.Largest, Tool{t.Name, n})
	}
	slices.SortStableFunc(out.Largest, func(a, b Tool) int { return cmp.Compare(b.Tokens, a.Tokens) })
	if !every && len(out.Largest) > largest {
		out.Largest = slices.Clip(out.Largest[:largest])
	}
	return out
}

// Over reports whether the tools cost more than is allowed, in the form that clients get.
func (r Report) Over() bool { return r.Budget > 0 && r.Cost() > r.Budget }

// Cost returns how many tokens the list takes that clients get.
func (r Report) Cost() int {
	if r.List.Chosen == views.ListSearch {
		return r.List.Search
	}
	return r.List.All
}

// Print prints the servers and the sum, or with every the tools.
func (r Report) Print(u *ui.UI, every bool) error {
	if u.WantJSON() {
		return u.EncodeJSON(r)
	}
	if len(r.Servers) > 0 {
		if err := u.Table(r.table(every)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(u.Out, r.summary())
	return err
}

func (r Report) table(every bool) ui.Table {
	t := ui.Table{Headers: []string{"SERVER", "TOOLS", "TOKENS", "SHARE", "LARGEST"}}
	measured := !every && slices.ContainsFunc(r.Servers, func(s Server) bool { return s.Results != nil })
	if measured {
		t.Headers = append(t.Headers, "RESULTS P50 / P99")
	}
	if every {
		t = ui.Table{Headers: []string{"SERVER", "TOOL", "TOKENS", "SHARE"}, Keep: []int{1}}
	}
	for _, s := range r.Servers {
		if !every {
			row := []string{s.Name, plain.Thousands(s.Tools), plain.Thousands(s.Tokens), r.share(s.Tokens), ""}
			if len(s.Largest) > 0 {
				row[4] = s.Largest[0].Name + " " + plain.Thousands(s.Largest[0].Tokens)
			}
			switch {
			case s.Results != nil:
				row = append(row, plain.Thousands(s.Results.P50)+" / "+plain.Thousands(s.Results.P99))
			case measured:
				row = append(row, "")
			}
			t.Rows = append(t.Rows, row)
			continue
		}
		for _, tool := range s.Largest {
			t.Rows = append(t.Rows, []string{s.Name, tool.Name, plain.Thousands(tool.Tokens), r.share(tool.Tokens)})
		}
	}
	return t
}

// summary says in one line what all of it costs.
func (r Report) summary() string {
	n := 0
	for _, s := range r.Servers {
		n += s.Tools
	}
	text := fmt.Sprintf("≈ %s tokens as a list of %s tools, %s as search", plain.Thousands(r.List.All), plain.Thousands(n), plain.Thousands(r.List.Search))
	if r.View != "" {
		text = "view " + r.View + ": " + text
	}
	if r.List.Chosen == views.ListSearch {
		text += ", which serve takes"
	}
	if r.Budget > 0 {
		text += fmt.Sprintf(" (allowed: %s)", plain.Thousands(r.Budget))
	}
	return text
}

func (r Report) share(n int) string {
	if r.List.All == 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", (100*n+r.List.All/2)/r.List.All)
}
