package finder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/results"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// sinceLinks is the first revision with blocks that are links.
const sinceLinks = "2025-06-18"

// Called is a call of a tool.
type Called struct {
	To *catalog.Route
	// Fields are those that it wants of the result, nil for all.
	Fields *results.Fields
	// Use returns it as policies have read it; nil where that is not known.
	Use func() *gate.Use
	// Task is the task that it has become, "" for none. Of a task one result is kept.
	Task string
}

// Shape returns the result of a call of a tool as the view of its client has it. What is cut off is
// kept, and the result says how it can be read. A nil Finder changes nothing.
func (f *Finder) Shape(from *upstream.Caller, call *Called, result []byte) []byte {
	to, fields := call.To, call.Fields
	shape := to.Edit.Result()
	if f == nil || shape == nil && fields == nil {
		return result
	}
	if shape != nil {
		result = results.Project(result, shape.Fields)
	}
	result = results.Project(result, fields)
	if !shape.Pages() {
		return result
	}
	long := results.Cut(result, shape.MaxTokens)
	if long == nil {
		return result
	}
	c := f.catalog.Of(from.Audience)
	r := StoredResult{Owner: owner(from, c), Texts: long.Texts, Most: shape.MaxTokens, Server: to.Backend, Tool: to.Bare, Task: call.Task}
	if call.Use != nil {
		r.Call = new(gate.Use)
		r.Call.Follow(call.Use())
		r.Call.Arguments = bytes.Clone(r.Call.Arguments) // which keep the whole request otherwise
	}
	id, ok := f.stored.Put(r)
	if !ok {
		line := fmt.Sprintf("%s; the rest is not kept, because it has more than %d MiB: ask for less", shown(&long.Page, false), MaxOne>>20)
		return long.Answer(results.TextBlock([]byte(line)))
	}
	plan := f.plan(c, from.Audience)
	line := shown(&long.Page, false) + next(f.own(c, &plan).Read, &long.Page, reading{ID: id})
	if from.Version != "" && from.Version < sinceLinks {
		return long.Answer(results.TextBlock([]byte(line)))
	}
	link := rawjson.Quote([]byte(`{"type":"resource_link","uri":`), ResultURI(id))
	link = fmt.Appendf(link, `,"name":"result","description":"the whole result","mimeType":%q,"size":%d}`, typeOf(long.Texts), long.Texts.Size())
	return long.Answer(link, results.TextBlock([]byte(line)))
}

// ShapeTask is Shape for the result that a task of a server's tool has come to, if it has. The id
// is the client's, which may ask again: the result is kept once.
func (f *Finder) ShapeTask(from *upstream.Caller, server *upstream.Backend, bare, id string, task []byte) []byte {
	if f == nil || from.View == "" {
		return task
	}
	at, err := rawjson.Field(task, "result")
	to := toolOf(f.catalog.Of(from.Audience), server, bare)
	if err != nil || !at.Present() || to == nil {
		return task
	}
	return rawjson.Apply(task, []rawjson.Edit{{Span: at, New: f.Shape(from, &Called{To: to, Task: id}, at.Of(task))}})
}

func owner(from *upstream.Caller, c *catalog.Catalog) ResultOwner {
	return ResultOwner{Who: from.Who.Key(), View: c.View()}
}

// shown says how much of a result a page is. From says where it begins.
func shown(p *results.Page, from bool) string {
	all := ""
	if p.From > 0 && !from {
		all = "the last "
	}
	text := fmt.Sprintf("showing %s%s of %s %s (%d %%)", all, plain.Thousands(p.Shown), plain.Thousands(p.Of), p.Unit, p.Percent)
	if from {
		text += fmt.Sprintf(" from %d", p.From)
	}
	return text
}

// next says how the page after another is read, "" where there is none. Q is how that was.
func next(tool string, p *results.Page, q reading) string {
	at, what := p.Next, ""
	switch {
	case p.Next < p.Of:
	case p.From > 0 && p.From+p.Shown == p.Of && q.From == nil: // the end of an error
		at = 0
	default:
		return ""
	}
	if q.Match != "" {
		what += fmt.Sprintf(" match=%q", q.Match)
	}
	if len(q.Fields) > 0 {
		fields, _ := json.Marshal(q.Fields) // texts always have a JSON form
		what += " fields=" + string(fields)
	}
	text := fmt.Sprintf("; %s id=%s from=%d%s", tool, q.ID, at, what)
	if p.Overlong > 0 {
		text += fmt.Sprintf(" (which alone is about %s tokens)", plain.Thousands(p.Overlong))
	}
	return text
}

// reading is a call of read_result.
type reading struct {
	ID     string   `json:"id"`
	From   *int     `json:"from"`
	Match  string   `json:"match"`
	Fields []string `json:"fields"`
}

// maxPattern bounds a pattern, in bytes.
const maxPattern = 1 << 10

// read answers a call of read_result.
func (f *Finder) read(from *upstream.Caller, c *catalog.Catalog, tool string, arguments []byte) Call {
	page, of, err := f.page(from, c, tool, arguments)
	if rpcErr, gone := errors.AsType[*runtime.Error](err); gone {
		return Call{Result: Result(rpcErr.Message, true), Via: bare.Read, Gone: rpcErr}
	}
	if err != nil {
		return Call{Result: Result(err.Error(), true)}
	}
	return Call{Result: page, Via: bare.Read, Of: of}
}

// page returns a page of a result, and the call that it is of. The error is a [runtime.Error] where
// the result is gone.
func (f *Finder) page(from *upstream.Caller, c *catalog.Catalog, tool string, arguments []byte) ([]byte, *Earlier, error) {
	var q reading
	if err := json.Unmarshal(arguments, &q); err != nil || q.ID == "" {
		return nil, nil, errors.New(`arguments do not fit: want {"id":"…","from"?:40,"match"?:"…","fields"?:["…"]}`)
	}
	want := results.Query{Any: true}
	if q.From != nil {
		want.From = *q.From
	} else {
		q.From = new(int)
	}
	fields, err := results.ParseFields(q.Fields)
	if err != nil {
		return nil, nil, fmt.Errorf("at /fields: %w", err)
	}
	if len(q.Match) > maxPattern {
		return nil, nil, fmt.Errorf("at /match: want %d bytes at most", maxPattern)
	}
	if q.Match != "" {
		if want.Match, err = regexp.Compile(q.Match); err != nil {
			return nil, nil, fmt.Errorf("at /match: %w", err)
		}
	}
	id, ok := ResultID(q.ID)
	if !ok {
		id = q.ID
	}
	q.ID = id
	r, of := f.storedFor(from, c, id)
	if r == nil {
		return nil, nil, gone(ResultURI(id))
	}
	want.Most = r.Most
	p := r.Texts.Project(fields).Page(want)
	content := []byte(`{"content":[`)
	for _, text := range p.Texts {
		if text != nil {
			content = append(append(content, results.TextBlock(text)...), ',')
		}
	}
	line := shown(&p, true) + next(tool, &p, q)
	return append(append(content, results.TextBlock([]byte(line))...), `]}`...), of, nil
}

// gone is what is said of a result that is not kept, whoever it was for.
func gone(uri string) *runtime.Error {
	return &runtime.Error{
		Code: runtime.CodeResourceNotFound, Message: "the result is gone: call its tool again", Data: append(rawjson.Quote([]byte(`{"uri":`), uri), '}'),
	}
}

// storedFor returns a result that somebody may read, and its call; nil for none.
func (f *Finder) storedFor(from *upstream.Caller, c *catalog.Catalog, id string) (*StoredResult, *Earlier) {
	r := f.stored.Get(owner(from, c), id)
	if r == nil {
		return nil, nil
	}
	of := toolOf(c, r.Server, r.Tool)
	if of == nil {
		return nil, nil
	}
	return r, &Earlier{of, r.Call}
}

// Earlier is the call whose result is read: the route to its tool as it is now, and the call as
// policies have read it, nil where that is not known.
type Earlier struct {
	To  *catalog.Route
	Use *gate.Use
}

// toolOf returns the route of a server's tool, nil where a catalog has none.
func toolOf(c *catalog.Catalog, server *upstream.Backend, bare string) *catalog.Route {
	for t := range c.Tools() {
		if t.Route.Backend == server && t.Route.Bare == bare {
			return t.Route
		}
	}
	return nil
}

// Read answers the reading of a resource that is a result. It reports false for others.
func (f *Finder) Read(from *upstream.Caller, line []byte, m *rawjson.Message) (call Call, stored bool) {
	uri, _ := rawjson.String(line, m.URI)
	id, ok := ResultID(uri)
	if !ok || f.catalog.HandedOut(uri) {
		return call, false
	}
	r, of := f.storedFor(from, f.catalog.Of(from.Audience), id)
	if r == nil {
		return Call{Gone: gone(uri)}, true
	}
	out := []byte(`{"contents":[`)
	for i, text := range r.Texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.Quote(append(out, `{"uri":`...), uri)
		out = fmt.Appendf(out, `,"mimeType":%q,"text":`, typeOf(results.Texts{text}))
		out = append(rawjson.Quote(out, string(text)), '}')
	}
	return Call{Result: append(out, `]}`...), Of: of}, true
}

// typeOf returns the media type of texts.
func typeOf(t results.Texts) string {
	if len(t) == 1 && results.IsDocument(t[0]) {
		return "application/json"
	}
	return "text/plain"
}

// ReadDefinition returns the definition of read_result.
func (o Own) ReadDefinition() []byte {
	out := rawjson.Quote([]byte(`{"name":`), o.Read)
	return append(out, `,"description":"Reads on in a long result, of which a call has shown a part and the id.","inputSchema":{"type":"object","required":["id"],"properties":{`+
		`"id":{"type":"string"},`+
		`"from":{"type":"integer","minimum":0,"default":0,"description":"The first item or line, counted from 0."},`+
		`"match":{"type":"string","description":"Only items or lines that match this regular expression (RE2)."},`+
		`"fields":{"type":"array","items":{"type":"string"},"description":"Only these members of JSON, as in user.login or items[].id."}}},`+
		`"annotations":{"readOnlyHint":true,"openWorldHint":false}}`...)
}

// reads reports whether clients of a plan have read_result.
func (p *plan) reads() bool { return p.view.Pages() }

// definitions returns those of the tools that are no server's, as a plan lists them.
func (o Own) definitions(p *plan, searches bool, servers func() []Server) []byte {
	var out []byte
	if searches {
		out = o.Definitions(servers())
	}
	if p.reads() {
		if out != nil {
			out = append(out, ',')
		}
		out = append(out, o.ReadDefinition()...)
	}
	return out
}
