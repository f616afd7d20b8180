package revision

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// AddMeta returns params with the members of _meta that make a request
// self-contained. Those that the caller has put there are replaced, however
// often they stand: servers disagree about which of two wins. A log level is
// the caller's, where there is one; everything else of _meta stays. Nil params
// are an empty object, and so is a null _meta.
func AddMeta(params []byte, members []rawjson.Member, level []byte) ([]byte, error) {
	if params == nil {
		params = []byte("{}")
	}
	at, err := rawjson.Field(params, "_meta")
	if err != nil {
		return nil, err
	}
	inner := []byte("{}")
	if raw := at.Of(params); raw != nil && string(raw) != "null" {
		own := false // has a log level
		inner, err = rawjson.Without(raw, func(name string) bool {
			own = own || name == MetaLogLevel
			switch name {
			case MetaVersion, MetaClient, MetaCapabilities:
				return true
			}
			return false
		})
		if err != nil {
			return nil, err
		}
		if own {
			level = nil
		}
	}
	if level != nil {
		members = append(slices.Clip(members), rawjson.Member{Name: MetaLogLevel, Value: level})
	}
	if inner, err = rawjson.Set(inner, members); err != nil {
		return nil, err
	}
	return rawjson.Set(params, []rawjson.Member{{Name: "_meta", Value: inner}})
}

// OfProtocol reports whether a member of a request's _meta is the protocol's
// own.
func OfProtocol(name string) bool { return strings.HasPrefix(name, MetaPrefix) }

// RemoveMeta returns params without the members of _meta that the protocol
// owns: before 2026-07-28 they mean nothing, and a server of both eras would
// take the request for a modern one. Params that are no object stay as they
// are: the server is to refuse them.
func RemoveMeta(params json.RawMessage) json.RawMessage {
	// A name can hide behind escapes, so only their absence proves anything.
	if (!bytes.Contains(params, []byte(`"_meta"`)) || !bytes.Contains(params, []byte(MetaPrefix))) && bytes.IndexByte(params, '\\') < 0 {
		return params
	}
	at, err := rawjson.Field(params, "_meta")
	if err != nil || !at.Present() {
		return params
	}
	raw := at.Of(params)
	inner, err := rawjson.Without(raw, OfProtocol)
	if err != nil || len(inner) == len(raw) {
		return params
	}
	return rawjson.Splice(nil, params, rawjson.Edit{Span: at, New: inner})
}

// RemoveMetaMember removes a member of _meta from params or a result, and with it
// a _meta that has no other. Without it they are returned as they are.
func RemoveMetaMember(object json.RawMessage, name string) json.RawMessage {
	at, err := rawjson.Field(object, "_meta")
	if err != nil || !at.Present() {
		return object
	}
	meta, err := rawjson.ObjectAt(object, at)
	if err != nil || meta.Get(name) == nil {
		return object
	}
	if meta.Remove(name); meta.Len() > 0 {
		return rawjson.Apply(object, meta.Edits())
	}
	out, err := rawjson.Without(object, func(name string) bool { return name == "_meta" })
	if err != nil {
		return object
	}
	return out
}
