package catalog

import (
	"bytes"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// exposeURI returns what clients call a server's URI or template.
func (c *Catalog) exposeURI(b *upstream.Backend, uri string) string {
	if c.single {
		return uri
	}
	scheme, _ := SchemeOf(uri)
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
	return Wrap(b.Name, uri)
}

// ExposedContent returns a result of tools/call or prompts/get with the URIs that
// clients know. Those in text and in structuredContent cannot be told from other
// text: resources/read takes them as the server wrote them. who has made the call.
func (p *Publisher) ExposedContent(b *upstream.Backend, principal *access.Principal, method string, result []byte) []byte {
	c := p.Current.Load()
	if c.single && len(c.readers) == 0 { // nothing is exchanged, and nobody can be asked for a link
		return result
	}
	if !bytes.Contains(result, []byte("resource")) {
		return result // no resource_link, resource or resourceUri: the common case, without reading it all
	}
	t := Text{Of: result, Name: func(uri string) string { return p.handOut(c, b, principal, uri, c.exposeURI(b, uri)) }}
	t.Content(method)
	return rawjson.Apply(result, t.Edits)
}

// handOut returns the name of a URI in a result of a server, which is remembered.
func (p *Publisher) handOut(c *Catalog, b *upstream.Backend, principal *access.Principal, uri, name string) string {
	if name == uri && c.Routes[inventory.Resources][uri] == nil {
		p.handedOut.Add(uri, b.Name, principal.Key())
	}
	return name
}

// HandedOut reports whether a server has sent a URI in a result.
func (p *Publisher) HandedOut(uri string) bool { return !p.handedOut.Claim(uri).Nobody() }

// ExposedContents returns a result of resources/read with the URIs that clients
// know; the one that was asked for is as it was asked.
func (p *Publisher) ExposedContents(b *upstream.Backend, principal *access.Principal, result []byte, bare, asked string) []byte {
	spans, err := rawjson.List(result, rawjson.Whole(result), "contents")
	if err != nil || len(spans) == 0 {
		return result
	}
	c := p.Current.Load()
	t := Text{Of: result, Name: func(uri string) string {
		name := c.exposeURI(b, uri)
		if bare != "" && uri == bare {
			name = asked
		}
		return p.handOut(c, b, principal, uri, name)
	}}
	for _, span := range spans {
		t.Member(span, "uri")
	}
	return rawjson.Apply(result, t.Edits)
}
