package finder

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// scheme begins the URIs.
const scheme = "mcpctl+view://"

// metaCatalog is the member of a resource's metadata that stands for its tools.
const metaCatalog = "dev.mcpctl/catalog"

func uriOf(view string, l declare.Language) string { return scheme + view + "/tools." + string(l) }

// shows reports whether an audience has such resources: those of its view.
func shows(p *catalog.Publisher, audience upstream.Audience) bool {
	return audience.View != "" && p.Of(audience).View() != nil
}

// listDeclarations adds the resources of an audience's view to the last page of a list.
func listDeclarations(p *catalog.Publisher, audience upstream.Audience, result []byte) []byte {
	if !shows(p, audience) {
		return result
	}
	var at [2]rawjson.Span
	if rawjson.Fields(result, at[:], "resources", "nextCursor") != nil || !at[0].Present() || at[1].Present() {
		return result
	}
	own := []byte{}
	if len(bytes.TrimSpace(result[at[0].Start+1:at[0].End-1])) > 0 {
		own = append(own, ',')
	}
	for i, l := range declare.Languages() {
		if i > 0 {
			own = append(own, ',')
		}
		own = rawjson.Quote(append(own, `{"uri":`...), uriOf(audience.View, l))
		own = rawjson.Quote(append(own, `,"name":`...), "tools."+string(l))
		own = rawjson.Quote(append(own, `,"description":`...), "The tools of the view "+audience.View+" as code: "+l.About()+".")
		own = rawjson.Quote(append(own, `,"mimeType":`...), l.MIME())
		own = append(own, '}')
	}
	end := rawjson.Span{Start: at[0].End - 1, End: at[0].End - 1}
	return rawjson.Splice(nil, result, rawjson.Edit{Span: end, New: own})
}

// Cache keeps what was last read of a catalog. The zero value is ready. It may be used
// concurrently: readers do not wait for each other, so that two may write the same at once.
type Cache struct{ last atomic.Pointer[written] }

// written is the result of a reading. It is immutable.
type written struct {
	language declare.Language
	unknown  []string
	result   []byte
}

// readDeclaration returns the result of a request that reads such a resource, nil where the audience has
// none of its URI. It waits for servers as a list does. Beside returns the cache of a catalog. The
// result is not to be changed.
func readDeclaration(ctx context.Context, p *catalog.Publisher, audience upstream.Audience, attached func(*catalog.Catalog) *Cache, line []byte, m *rawjson.Message) ([]byte, error) {
	uri, _ := rawjson.String(line, m.URI)
	if !strings.HasPrefix(uri, scheme) || !shows(p, audience) {
		return nil, nil
	}
	for _, l := range declare.Languages() {
		if uri != uriOf(audience.View, l) {
			continue
		}
		p.Discover(ctx, audience, p.Grace())
		if err := deadline.Err(ctx); err != nil {
			return nil, err
		}
		c := p.Of(audience)
		p.MarkSeen(audience, c)
		unknown, cache := p.Unknown(audience), attached(c)
		if last := cache.last.Load(); last != nil && last.language == l && slices.Equal(last.unknown, unknown) {
			return last.result, nil
		}
		result := write(c, audience.View, unknown, l)
		cache.last.Store(&written{l, unknown, result})
		return result, nil
	}
	return nil, nil
}

// write returns the result of a reading.
func write(c *catalog.Catalog, view string, unknown []string, l declare.Language) []byte {
	s := declare.Source{Of: "the view " + view, Unknown: unknown}
	for t := range c.Tools() {
		s.Tools = append(s.Tools, declare.Tool{Name: t.Name, Definition: t.Raw()})
	}
	out := rawjson.Quote([]byte(`{"contents":[{"uri":`), uriOf(view, l))
	out = rawjson.Quote(append(out, `,"mimeType":`...), l.MIME())
	out = rawjson.Quote(append(out, `,"text":`...), string(s.Write(l)))
	out = rawjson.Quote(append(out, `,"_meta":{"`+metaCatalog+`":`...), s.Digest())
	return slices.Clip(append(out, `}}]}`...))
}
