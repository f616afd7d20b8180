package revision

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// Conversion is the way of a payload from a server of one revision to a client
// of another. Its methods are pure: they touch what the revisions disagree
// about and leave every other byte alone, unknown members, the text of numbers
// and the order of members included. A payload that needs no change is given
// back as the same bytes. A Conversion may be used concurrently.
type Conversion struct {
	// From is the revision of the connection behind, To the client's. An empty
	// To is a client of the handshake era that has not said: it gets what the
	// newest of those revisions can express. An empty From is Latest.
	From, To string
	// Method is that of the request whose result or error it is.
	Method string
	// Capabilities is what the client has declared, raw; nil is nothing. It
	// decides which results of extensions may pass, and which capabilities an
	// error may ask for.
	Capabilities json.RawMessage
	// Server is who we are, Backend who the server behind is where its results
	// do not say: raw Implementation objects. Results for modern clients carry
	// them; nil adds nothing.
	Server, Backend json.RawMessage
	// Wrap is set where the tool's output schema is exposed wrapped to this
	// client (see [WrapsOutput]), so that what it returns has to be wrapped
	// too.
	Wrap bool
}

func (c *Conversion) from() string { return orLatest(c.From) }
func (c *Conversion) to() string   { return orLatest(c.To) }

func orLatest(version string) string { return cmp.Or(version, Latest) }

// Needed reports, without looking at any, whether results can need a change.
func (c *Conversion) Needed() bool {
	return IsModern(c.To) || IsModern(c.From) || c.to() < c.from()
}

// Result converts a server's result to the client's revision. The error says
// why the client cannot take it; it is a *runtime.ProtocolError without a
// sample: a result may hold what is secret, and nobody here knows what that is.
func (c *Conversion) Result(raw json.RawMessage) (json.RawMessage, error) {
	if !c.Needed() {
		return raw, nil
	}
	if !IsModern(c.To) && !IsModern(c.From) && !c.hasNewerContent(raw) {
		return raw, nil
	}
	o, err := rawjson.ObjectAt(raw, rawjson.Whole(raw))
	if err != nil {
		return nil, &runtime.ProtocolError{Reason: c.Method + ": the result is no object"}
	}
	if name := duplicated(o); name != "" {
		// Clients disagree about which of the two counts.
		return nil, &runtime.ProtocolError{Reason: c.Method + ": the result has the member " + name + " twice"}
	}
	var edits []rawjson.Edit
	if IsModern(c.To) {
		edits, err = c.toModern(raw, o)
	} else {
		edits, err = c.toLegacy(raw, o)
	}
	if err != nil {
		return nil, err
	}
	return rawjson.Apply(raw, append(edits, o.Edits()...)), nil
}

// duplicated returns a member that a result has twice and that matters here, ""
// for none.
func duplicated(o *rawjson.Object) string {
	for _, name := range []string{MemberResultType, MemberTTL, MemberCacheScope, "_meta", "content", "structuredContent", "messages", MemberRequestState} {
		n := 0
		for _, e := range o.Entries {
			if e.Name == name {
				n++
			}
		}
		if n > 1 {
			return name
		}
	}
	return ""
}

func sample(raw []byte) string { return string(raw[:min(len(raw), 120)]) }

// toModern returns the edits for a modern client; members of the result itself
// are changed in o.
func (c *Conversion) toModern(raw []byte, o *rawjson.Object) ([]rawjson.Edit, error) {
	kind := ResultComplete
	switch e := o.Get(MemberResultType); {
	case e != nil:
		var ok bool
		if kind, ok = rawjson.String(raw, e.Value); !ok {
			return nil, &runtime.ProtocolError{Reason: c.Method + ": resultType is no string"}
		}
		if err := c.checkResultType(kind); err != nil {
			return nil, err
		}
	default:
		asks, state := o.Get(MemberInputRequests), o.Get(MemberRequestState)
		if !IsModern(c.From) && (asks != nil && rawjson.IsObject(asks.Value.Of(raw)) || state != nil && rawjson.IsString(state.Value.Of(raw))) {
			kind = ResultInputRequired // some such servers leave the type out
		}
		o.Add(MemberResultType, rawjson.Quote(nil, kind))
	}
	switch {
	case kind == ResultInputRequired:
		// "An interim result carries neither" (2026-07-28, Caching).
		o.Remove(MemberTTL)
		o.Remove(MemberCacheScope)
	case kind == ResultComplete && Cacheable(c.Method):
		c.cacheHints(raw, o)
	}
	return c.setServerInfo(raw, o)
}

// checkResultType refuses a result that the client would have to take for
// invalid: "a client MUST treat an unknown resultType as invalid" (2026-07-28,
// Versioning). An unknown one may belong to an extension that the client has
// declared and that is not known here.
func (c *Conversion) checkResultType(kind string) error {
	switch kind {
	case ResultComplete, ResultInputRequired:
		return nil
	case ResultTask:
		if HasExtension(c.Capabilities, ExtensionTasks) {
			return nil
		}
	default:
		if declaresOther(c.Capabilities) {
			return nil
		}
	}
	return &runtime.ProtocolError{Reason: fmt.Sprintf("%s: the server answers with a result of type %q, which the client has not declared", c.Method, kind)}
}

// Cacheable reports whether complete results of a method carry cache hints
// (2026-07-28, Caching).
func Cacheable(method string) bool {
	switch method {
	case MethodDiscover, MethodToolsList, MethodPromptsList, MethodResourcesList, MethodResourceTemplatesList, MethodResourcesRead:
		return true
	}
	return false
}

// cacheHints makes the cache hints valid: a server without any, or of another
// era, promises no freshness, and its answers are for one client alone.
func (c *Conversion) cacheHints(raw []byte, o *rawjson.Object) {
	ttl, scope := o.Get(MemberTTL), o.Get(MemberCacheScope)
	modern := IsModern(c.From)
	switch {
	case ttl == nil:
		o.Add(MemberTTL, []byte(`0`))
	case (!modern || !isCount(ttl.Value.Of(raw))) && string(ttl.Value.Of(raw)) != "0":
		o.Replace(ttl, []byte(`0`))
	}
	private := []byte(`"private"`)
	if scope == nil {
		o.Add(MemberCacheScope, private)
		return
	}
	if s, _ := rawjson.String(raw, scope.Value); s != "private" && (s != "public" || !modern) {
		o.Replace(scope, private)
	}
}

// isCount reports whether a raw value is an integer that is not negative.
func isCount(raw []byte) bool {
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(raw) > 0
}

// setServerInfo names in _meta who has answered: us, and the server behind us.
func (c *Conversion) setServerInfo(raw []byte, o *rawjson.Object) ([]rawjson.Edit, error) {
	var add []rawjson.Member
	if IsModern(c.To) && c.Server != nil {
		add = append(add, rawjson.Member{Name: MetaServer, Value: c.Server})
	}
	meta := o.Get("_meta")
	if meta == nil || raw[meta.Value.Start] != '{' {
		if IsModern(c.To) && c.Backend != nil {
			add = append(add, rawjson.Member{Name: MetaBackend, Value: c.Backend})
		}
		if len(add) == 0 {
			return nil, nil
		}
		value, err := rawjson.Set([]byte(`{}`), add)
		if err != nil {
			return nil, err
		}
		if meta != nil { // null, or worse
			o.Remove("_meta")
		}
		o.Add("_meta", value)
		return nil, nil
	}
	m, err := rawjson.ObjectAt(raw, meta.Value)
	if err != nil {
		return nil, err
	}
	if e := m.Get(MetaServer); e != nil {
		m.Remove(MetaBackend)
		m.Rename(e, MetaBackend)
		if server := e.Value.Of(raw); bytes.Contains(server, []byte(`"icons"`)) {
			m.Replace(e, withoutIcons(server))
		}
	} else if IsModern(c.To) && c.Backend != nil && m.Get(MetaBackend) == nil {
		add = append(add, rawjson.Member{Name: MetaBackend, Value: c.Backend})
	}
	for _, a := range add {
		m.Add(a.Name, a.Value)
	}
	if !IsModern(c.To) {
		for _, name := range modernMeta() {
			m.Remove(name)
		}
		if m.Len() == 0 && len(m.Entries) > 0 {
			o.Remove("_meta")
			return nil, nil
		}
	}
	return m.Edits(), nil
}

// withoutIcons returns who a server says it is without its pictures: they may be kilobytes,
// in each result.
func withoutIcons(server []byte) []byte {
	o, err := rawjson.ObjectAt(server, rawjson.Whole(server))
	if err != nil {
		return server
	}
	o.Remove("icons")
	return rawjson.Splice(nil, server, o.Edits()...)
}

// modernMeta returns the members of _meta that only the stateless era knows,
// but for the server's own name (2026-07-28, Overview, General fields).
func modernMeta() []string {
	return []string{MetaVersion, MetaCapabilities, MetaClient, MetaLogLevel, MetaSubscription}
}

// Plain converts plain results of tools/call from a server of the handshake era
// to modern clients, for those who cannot afford a general [Conversion]: what
// is missing from such a result is always the same, and goes first. It is
// immutable.
type Plain struct{ mark []byte }

// NewPlain returns that of a server, from a conversion to a modern client.
func NewPlain(c Conversion) (*Plain, error) {
	c.Method = MethodToolsCall
	out, err := c.Result(json.RawMessage(`{}`))
	if err != nil {
		return nil, err
	}
	return &Plain{out[1 : len(out)-1]}, nil
}

// Len is how much longer a result becomes.
func (p *Plain) Len() int { return len(p.mark) + 1 }

// Append appends a result in the client's revision to dst, as Conversion.Result
// returns it, without allocating. It reports false and appends nothing where the
// result is not plain.
func (p *Plain) Append(dst, result []byte) ([]byte, bool) {
	members, plain := 0, true
	var once [5]bool // which of the names below has come
	err := rawjson.Walk(result, func(name []byte, _ rawjson.Span) {
		members++
		i := 0
		switch string(name) {
		case MemberResultType, "_meta", MemberInputRequests, MemberRequestState, "task":
			plain = false
			return
		case "content":
		case "structuredContent":
			i = 1
		case "messages":
			i = 2
		case MemberTTL:
			i = 3
		case MemberCacheScope:
			i = 4
		default:
			return
		}
		plain = plain && !once[i] // see twice
		once[i] = true
	})
	if err != nil || !plain {
		return dst, false
	}
	at := rawjson.Bracket(result) + 1
	dst = append(append(dst, result[:at]...), p.mark...)
	if members > 0 {
		dst = append(dst, ',')
	}
	return append(dst, result[at:]...), true
}
