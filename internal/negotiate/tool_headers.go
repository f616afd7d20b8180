package negotiate

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
)

// toolHeaders is what a connection has learned of the headers of tools from the
// lists that have passed through it. The zero value is ready.
type toolHeaders struct {
	mu sync.Mutex // guards what follows
	// tools are those with mirrors, or with a fault, of the list under way;
	// previous are those of the one before it, which pages may still follow.
	tools, previous map[string]toolHeader
}

type toolHeader struct {
	mirrors []revision.Mirror
	fault   error
}

// get returns what is known of a tool; nothing for most.
func (b *toolHeaders) get(name string) toolHeader {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, ok := b.tools[name]; ok {
		return t
	}
	return b.previous[name]
}

// learn records a result of tools/list. A tool that breaks the rules of
// x-mcp-header is removed where headers are in use: a client must not call it
// then (2026-07-28, Streamable HTTP). Elsewhere its annotations mean nothing,
// and are removed in its place, or a proxy that repeats the list over HTTP
// would lose the tool. Every other byte of the result stays.
func (b *toolHeaders) learn(params, result json.RawMessage, mirrors bool, logger *slog.Logger) json.RawMessage {
	stale := b.beginList(params)
	if !stale && !bytes.Contains(result, []byte(revision.HeaderAnnotation)) && bytes.IndexByte(result, '\\') < 0 {
		return result
	}
	spans, err := rawjson.List(result, rawjson.Whole(result), "tools")
	if err != nil {
		return result
	}
	var edits []rawjson.Edit
	faulty := map[int]bool{}
	for i, at := range spans {
		tool := at.Of(result)
		name, schema, ok := toolSchema(tool)
		if !ok {
			continue
		}
		found, err := revision.ToolMirrors(schema.Of(tool))
		switch {
		case err != nil && mirrors:
			logger.Warn("tool left out: its schema breaks the rules of x-mcp-header", "tool", name, "err", err)
			faulty[i] = true
		case err != nil:
			logger.Info("x-mcp-header annotations of a tool left out: they break the rules", "tool", name, "err", err)
			edits = append(edits, revision.RemoveMirrors(result, rawjson.Span{Start: at.Start + schema.Start, End: at.Start + schema.End})...)
		}
		if mirrors {
			b.set(name, toolHeader{found, err})
		}
	}
	if len(faulty) > 0 {
		edits = rawjson.Removals(spans, func(i int) bool { return faulty[i] })
	}
	if edits == nil {
		return result
	}
	return rawjson.Splice(nil, result, edits...)
}

// beginList begins a new list where params have no cursor. It reports whether
// anything is known from the list before.
func (b *toolHeaders) beginList(params json.RawMessage) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cursor, err := rawjson.Field(params, "cursor"); err != nil || !cursor.Present() {
		b.previous, b.tools = b.tools, nil
	}
	return len(b.previous) > 0
}

func (b *toolHeaders) set(name string, t toolHeader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.previous, name)
	if t.fault == nil && t.mirrors == nil {
		return
	}
	if b.tools == nil {
		b.tools = map[string]toolHeader{}
	}
	b.tools[name] = t
}

func toolSchema(tool []byte) (name string, schema rawjson.Span, ok bool) {
	var at [2]rawjson.Span
	if rawjson.Fields(tool, at[:], "name", "inputSchema") != nil || !at[1].Present() {
		return "", rawjson.Span{}, false
	}
	name, ok = rawjson.String(tool, at[0])
	return name, at[1], ok
}
