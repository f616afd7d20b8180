package finder

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/search"
)

// Tool is a tool that somebody may use.
type Tool struct {
	Server string
	Bare   string // the server's name for it
	Name   string // what its client calls it
}

// Stock is what somebody may use.
type Stock struct {
	*Index
	// Unlisted are the servers of which nothing is known yet.
	Unlisted []string
	// Definition returns the definition of a tool as it is listed.
	Definition func(name string) []byte
}

// bareName is what a server calls a tool.
type bareName struct{ server, name string }

// Index has the tools of a list in its order. It does not change.
type Index struct {
	tools   []Tool
	servers []Server            // those that have tools, in their order
	exposed map[bareName]string // names, by server and its name
	folded  map[string][]int    // tools, by their name without case and separators
}

// NewIndex returns an index of tools.
func NewIndex(tools []Tool) *Index {
	x := &Index{tools: tools, exposed: make(map[bareName]string, len(tools)), folded: make(map[string][]int, len(tools))}
	at := map[string]int{}
	for i, t := range tools {
		x.exposed[bareName{t.Server, t.Bare}] = t.Name
		x.folded[folded(t.Name)] = append(x.folded[folded(t.Name)], i)
		n, known := at[t.Server]
		if !known {
			n = len(x.servers)
			at[t.Server] = n
			x.servers = append(x.servers, Server{Name: t.Server})
		}
		x.servers[n].Tools++
	}
	return x
}

// Servers returns those that have tools, in their order.
func (x *Index) Servers() []Server { return x.servers }

// Searcher is what of [search.Engine] is used.
type Searcher interface {
	Search(ctx context.Context, q search.Query, keep func(server, tool string) bool) []search.Found
}

// further is how many tools are counted that are found beyond the limit.
const further = 20

// Answer searches, and says in words what is found: never nothing. Names are those of the
// tools that are found, the best first.
func (o Own) Answer(ctx context.Context, searcher Searcher, s Stock, q Query) (text string, names []string) {
	var found []Tool
	numNamed := 0
	switch {
	case len(q.Texts) == 0 && q.Server != "":
		for _, t := range s.tools {
			if t.Server == q.Server {
				found = append(found, t)
			}
		}
	case len(q.Texts) > 0:
		found = s.namedIn(q.Texts, q.Server)
		numNamed = len(found)
		most := max(q.Limit, maxLimit)
		for _, f := range searcher.Search(ctx, search.Query{Phrasings: q.Texts, Limit: most + further}, func(server, tool string) bool {
			_, visible := s.exposed[bareName{server, tool}]
			return visible && (q.Server == "" || server == q.Server)
		}) {
			t := Tool{f.Group, f.Name, s.exposed[bareName{f.Group, f.Name}]}
			if slices.Contains(found[:min(numNamed, len(found))], t) {
				continue
			}
			if f.Named && len(found) == numNamed {
				numNamed++
			}
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return o.none(ctx, searcher, s, q), nil
	}
	shown := found
	if q.Limit > 0 {
		shown = found[:min(len(found), max(q.Limit, numNamed))]
	}
	var out strings.Builder
	for _, t := range shown {
		names = append(names, t.Name)
		out.WriteString(describe(t.Name, s.Definition(t.Name), q.Detail) + "\n")
	}
	out.WriteString(o.rest(found[len(shown):], shown[0].Server, s, q))
	return strings.TrimSuffix(out.String(), "\n"), names
}

// namedIn returns the tools of a server, "" for all, whose name a text is, or has in it as a
// word of several parts.
func (x *Index) namedIn(texts []string, server string) (found []Tool) {
	words := map[string]bool{}
	for _, text := range texts {
		words[folded(text)] = true
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`,;()[]{}", r) }) {
			if strings.ContainsFunc(word, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' || unicode.IsUpper(r) }) {
				words[folded(word)] = true
			}
		}
	}
	delete(words, "")
	var at []int
	for word := range words {
		at = append(at, x.folded[word]...)
	}
	slices.Sort(at)
	for _, i := range at {
		if t := x.tools[i]; server == "" || t.Server == server {
			found = append(found, t)
		}
	}
	return found
}

// folded returns a name without case and separators.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Lengths of what is said of a tool, about.
const (
	maxSignature = 240
	maxAbout     = 200
	maxLine      = 100
)

// describe returns what is said of a tool, by its definition.
func describe(name string, definition []byte, d Detail) string {
	if d == Schema {
		return string(definition)
	}
	var t struct {
		Title       string          `json:"title"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	_ = json.Unmarshal(definition, &t) // what cannot be read is left out
	about := cmp.Or(declare.FirstLine(t.Description), declare.FirstLine(t.Title))
	if d == Line {
		return joined(name, shortened(about, maxLine))
	}
	return joined(declare.Of(name, t.InputSchema).Within(maxSignature), shortened(about, maxAbout))
}

func joined(head, about string) string { return strings.TrimSuffix(head+"  "+about, "  ") }

func shortened(text string, most int) string {
	if short := cutText(text, most); short != text {
		return short + "…"
	}
	return text
}

// rest says what else there is: tools that are found and not shown, and how to find others.
// Server is that of the best one.
func (o Own) rest(others []Tool, server string, s Stock, q Query) string {
	if len(q.Texts) == 0 {
		if len(others) > 0 {
			return fmt.Sprintf("%d more.", len(others))
		}
		return ""
	}
	var out strings.Builder
	var more []Server
	for _, t := range others[:min(len(others), further)] {
		if i := slices.IndexFunc(more, func(s Server) bool { return s.Name == t.Server }); i >= 0 {
			more[i].Tools++
		} else {
			more = append(more, Server{t.Server, 1})
		}
	}
	for i, m := range more {
		if i == 0 {
			fmt.Fprintf(&out, "%d more of %s", m.Tools, m.Name)
		} else {
			fmt.Fprintf(&out, "; %d of %s", m.Tools, m.Name)
		}
	}
	if out.Len() > 0 {
		out.WriteString(". ")
	}
	all := s.servers
	if i := slices.IndexFunc(all, func(s Server) bool { return s.Name == server }); i >= 0 {
		fmt.Fprintf(&out, "Not it? Other words, or queries=[\"\"] server=%s for all %d of it.", server, all[i].Tools)
	}
	return out.String() + unlisted(s)
}

// unlisted says of which servers nothing is known.
func unlisted(s Stock) string {
	if all := s.Unlisted; len(all) > 0 {
		return " Not known yet: the tools of " + strings.Join(all, ", ") + "."
	}
	return ""
}

// none is the answer where nothing is found.
func (o Own) none(ctx context.Context, searcher Searcher, s Stock, q Query) string {
	all := s.servers
	var text string
	switch known := slices.ContainsFunc(all, func(s Server) bool { return s.Name == q.Server }); {
	case len(q.Texts) == 0 && q.Server == "":
		text = "Say in queries what the tool should do."
	case q.Server != "" && !known:
		text = "There is no server of that name with tools."
	case q.Server != "":
		elsewhere := q
		elsewhere.Server = ""
		elsewhere.Detail = Line
		if found, names := o.Answer(ctx, searcher, s, elsewhere); len(names) > 0 {
			return "No tool of " + q.Server + " matches. Of other servers:\n" + found
		}
		text = "No tool matches."
	default:
		text = "No tool matches."
	}
	if len(all) == 0 {
		return text + " There are no tools." + unlisted(s)
	}
	return text + " Servers here: " + named(all, maxServersTokens) + ". Try other words, or queries=[\"\"] with one of them as server for all its tools." + unlisted(s)
}

// Result returns a text as the result of a tool.
func Result(text string, failed bool) []byte {
	out := append(rawjson.Quote([]byte(`{"content":[{"type":"text","text":`), text), `}]`...)
	if failed {
		out = append(out, `,"isError":true`...)
	}
	return append(out, '}')
}
