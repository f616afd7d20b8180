package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// kind is one of the four lists of a server.
type kind int

const (
	tools kind = iota
	prompts
	resources
	templates
	kinds
)

// listing is how a list is asked for and read.
type listing struct {
	method, member, capability, changed string
	// key is the member of an item that names it to callers.
	key string
}

func (k kind) listing() listing {
	switch k {
	case tools:
		return listing{"tools/list", "tools", "tools", "notifications/tools/list_changed", "name"}
	case prompts:
		return listing{"prompts/list", "prompts", "prompts", "notifications/prompts/list_changed", "name"}
	case resources:
		return listing{"resources/list", "resources", "resources", "notifications/resources/list_changed", "uri"}
	case templates:
		return listing{"resources/templates/list", "resourceTemplates", "resources", "notifications/resources/list_changed", "uriTemplate"}
	default:
		panic(fmt.Sprintf("proxy: no list %d", k))
	}
}

// catalog is what one server offers, as it sent it.
type catalog struct {
	items     [kinds][]item
	resources bool // it has the capability
}

// item is one entry of a list.
type item struct {
	raw []byte
	// name and key are unquoted; key is the same as name for tools and prompts.
	name, key     string
	nameAt, keyAt rawjson.Span
}

// load asks a server for its lists, by the capabilities it declares.
func load(ctx context.Context, b *backend, client *runtime.Client) (*catalog, error) {
	cat := &catalog{resources: client.Info().Has("resources")}
	for k := range kinds {
		l := k.listing()
		if !client.Info().Has(l.capability) {
			continue
		}
		pages, err := client.ListPages(ctx, l.method)
		if err != nil {
			var rpc *runtime.Error
			if errors.As(err, &rpc) && rpc.Code == runtime.CodeMethodNotFound {
				continue // declared and not there: common for templates
			}
			return nil, err
		}
		for _, page := range pages {
			items, err := parse(b, page, l)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", l.method, err)
			}
			cat.items[k] = append(cat.items[k], items...)
		}
	}
	return cat, nil
}

// parse reads one page of a list. Items without a usable key are left out:
// nobody could ask for them.
func parse(b *backend, page json.RawMessage, l listing) ([]item, error) {
	at, err := rawjson.Field(page, l.member)
	if err != nil {
		return nil, err
	}
	if !at.Present() {
		return nil, nil
	}
	list := at.Of(page)
	spans, err := rawjson.Elements(list)
	if err != nil {
		return nil, err
	}
	items := make([]item, 0, len(spans))
	for _, s := range spans {
		it := item{raw: s.Of(list)}
		var at [2]rawjson.Span
		if err := rawjson.Fields(it.raw, at[:], "name", l.key); err != nil {
			b.p.log.Warn("backend lists something that is no object", "server", b.name, "method", l.method)
			continue
		}
		it.nameAt, it.keyAt = at[0], at[1]
		if l.key == "name" {
			it.keyAt = it.nameAt
		}
		it.name, _ = rawjson.String(it.raw, it.nameAt)
		it.key, _ = rawjson.String(it.raw, it.keyAt)
		if it.key == "" {
			b.p.log.Warn("backend lists something without a name", "server", b.name, "method", l.method)
			continue
		}
		items = append(items, it)
	}
	return items, nil
}
