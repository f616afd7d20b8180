package catalog

import (
	"bytes"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/ownership"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// exposeURI returns what clients call a server's URI or template.
func (c *Catalog) exposeURI(b *upstream.Backend, uri string) string {
	if c.single {
		return uri
	}
	scheme, _ := ownership.SchemeOf(uri)
	switch scheme {
	case "data":
		return uri
	case "https", "http":
		if !c.owners.Contested(uri, b.Name) {
			return uri
		}
	default:
		if !b.Config().WrapURIs && !c.owners.LooksWrapped(uri) && c.owners.OfScheme(uri).Is(b.Name) && !c.owners.Contested(uri, b.Name) {
			return uri
		}
	}
	return ownership.Wrap(b.Name, uri)
}

// ExposedContent returns a result of tools/call or prompts/get with the URIs that
// clients know. Those in text and in structuredContent cannot be told from other
// text: resources/read takes them as the server wrote them.
func (p *Publisher) ExposedContent(b *upstream.Backend, method string, result []byte) []byte {
	c := p.Current.Load()
	if c.single && len(c.readers) == 0 { // nothing is exchanged, and nobody can be asked for a link
		return result
	}
	if !bytes.Contains(result, []byte("resource")) {
		return result // no resource_link, resource or resourceUri: the common case, without reading it all
	}
	member := "content"
	if method == revision.MethodPromptsGet {
		member = "messages"
	}
	var at [2]rawjson.Span
	if rawjson.Fields(result, at[:], member, "_meta") != nil {
		return result
	}
	e := exposing{p: p, c: c, b: b, text: result, handsOut: true}
	blocks, _ := rawjson.ElementsAt(result, at[0]) // what is no array is for the client to judge
	for _, block := range blocks {
		if method == revision.MethodPromptsGet {
			content, err := rawjson.Field(block.Of(result), "content")
			if err != nil || !content.Present() {
				continue
			}
			block = moved(block, content)
		}
		e.block(block)
	}
	if at[1].Present() {
		e.meta(at[1])
	}
	return rawjson.Apply(result, e.edits)
}

// ExposedContents returns a result of resources/read with the URIs that clients
// know; the one that was asked for is as it was asked.
func (p *Publisher) ExposedContents(b *upstream.Backend, result []byte, bare, asked string) []byte {
	spans, err := rawjson.List(result, rawjson.Whole(result), "contents")
	if err != nil || len(spans) == 0 {
		return result
	}
	e := exposing{p: p, c: p.Current.Load(), b: b, text: result, bare: bare, asked: asked, handsOut: true}
	for _, span := range spans {
		e.member(span, "uri")
	}
	return rawjson.Apply(result, e.edits)
}

// moved returns the place in the whole of a span of a part.
func moved(part, span rawjson.Span) rawjson.Span {
	return rawjson.Span{Start: part.Start + span.Start, End: part.Start + span.End}
}

// exposing gathers the edits of one text of a server.
type exposing struct {
	p     *Publisher
	c     *Catalog
	b     *upstream.Backend
	text  []byte
	edits []rawjson.Edit
	// bare is a URI that is exposed as asked, "" for none.
	bare, asked string
	handsOut    bool // the text is a result: its links are remembered
}

// block exposes the URI of a resource_link or an embedded resource.
func (e *exposing) block(at rawjson.Span) {
	var in [2]rawjson.Span
	if rawjson.Fields(at.Of(e.text), in[:], "type", "resource") != nil {
		return
	}
	switch kind, _ := rawjson.String(at.Of(e.text), in[0]); {
	case kind == "resource_link":
		e.member(at, "uri")
	case kind == "resource" && in[1].Present():
		e.member(moved(at, in[1]), "uri")
	}
}

// member exposes the URI that is a member of an object.
func (e *exposing) member(object rawjson.Span, name string) {
	if at, err := rawjson.Field(object.Of(e.text), name); err == nil && at.Present() {
		e.uri(moved(object, at))
	}
}

func (e *exposing) uri(at rawjson.Span) {
	uri, ok := rawjson.String(e.text, at)
	if !ok {
		return
	}
	name := e.c.exposeURI(e.b, uri)
	if e.bare != "" && uri == e.bare {
		name = e.asked
	}
	if name != uri {
		e.edits = append(e.edits, rawjson.Edit{Span: at, New: rawjson.Quote(nil, name)})
	} else if e.handsOut && e.c.Routes[inventory.Resources][uri] == nil {
		e.p.handedOut.Add(uri, e.b.Name)
	}
}

// meta exposes the URI of a tool's user interface: _meta.ui.resourceUri, and
// the flat member of older servers (MCP Apps).
func (e *exposing) meta(at rawjson.Span) {
	var in [2]rawjson.Span
	if rawjson.Fields(at.Of(e.text), in[:], "ui", "ui/resourceUri") != nil {
		return
	}
	if in[0].Present() {
		e.member(moved(at, in[0]), "resourceUri")
	}
	if in[1].Present() {
		e.uri(moved(at, in[1]))
	}
}
