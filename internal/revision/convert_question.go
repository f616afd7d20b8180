package revision

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// IsQuestion reports whether a method is one of the requests that servers may
// send to clients, except ping, which each side of a connection answers itself
// (2025-11-25, Schema, ServerRequest; 2026-07-28, InputRequest). The requests
// for tasks are left out: no server is told of a client with tasks, see
// [Offer].
func IsQuestion(method string) bool {
	return method == MethodElicitationCreate || method == MethodSamplingCreateMessage || method == MethodRootsList
}

// Question is a request of a server to a client (elicitation/create,
// sampling/createMessage or roots/list) on its way from a server of one
// revision to a client of another. Like a [Conversion] it leaves alone what the
// revisions agree about.
type Question struct {
	// From is the revision of the server, To the client's; "" is Latest.
	From, To string
	// Method is the question's.
	Method string
	// Capabilities is what the client has declared, raw; nil is nothing.
	Capabilities json.RawMessage
	// Name is the server's as people know it. Where it is not empty, the message
	// of an elicitation begins with it, since the client would show only us.
	Name string
	// NewID returns a new elicitationId for a client of 2025-11-25; nil: a
	// random one.
	NewID func() string
}

// Params converts the question's params to the client's revision. Nil params
// (of roots/list) stay nil, and null is nil. A question that the client has not
// declared to answer is refused with a *runtime.Error of code -32021 whose data
// names what is missing (data.requiredCapabilities); one that its revision
// cannot express, with code -32602; and what is no question, with code -32601.
func (q *Question) Params(params json.RawMessage) (json.RawMessage, error) {
	if !IsQuestion(q.Method) {
		return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "method not found: " + q.Method}
	}
	if string(params) == "null" {
		params = nil
	}
	if q.Method == MethodSamplingCreateMessage && q.to() < sinceURL && len(params) > 0 {
		var err error
		if params, err = removeTools(params); err != nil {
			return nil, err
		}
	}
	if missing := MissingFor(q.Method, params, q.Capabilities); missing != nil {
		return nil, MissingCapability(missing)
	}
	if len(params) == 0 {
		return nil, nil
	}
	o, err := rawjson.ObjectAt(params, rawjson.Whole(params))
	if err != nil {
		return nil, inexpressible(q.Method + ": params are no object")
	}
	edits := q.cleanMeta(params, o)
	var more []rawjson.Edit
	switch q.Method {
	case MethodElicitationCreate:
		more, err = q.elicitation(params, o)
	case MethodSamplingCreateMessage:
		more, err = q.sampling(params, o)
	}
	if err != nil {
		return nil, err
	}
	return rawjson.Apply(params, slices.Concat(edits, more, o.Edits())), nil
}

func (q *Question) to() string { return orLatest(q.To) }

// Embedded returns the question as an embedded request of a result that asks
// for input: {"method":…,"params":…} without id and without jsonrpc
// (2026-07-28, Multi round-trip requests). Params are those that Params has
// returned; without any there is an empty object, since released clients (Go
// SDK 1.8) fail on a question that has none.
func (q *Question) Embedded(params json.RawMessage) json.RawMessage {
	var o rawjson.Builder
	o.Add("method", rawjson.Quote(nil, q.Method))
	if params == nil {
		params = json.RawMessage(`{}`)
	}
	o.Add("params", params)
	return o.Object()
}

// MissingCapability returns the error for a client that lacks capabilities;
// required is the raw object of them, such as {"elicitation":{"form":{}}}
// (2026-07-28, Overview, Error Codes).
func MissingCapability(required json.RawMessage) *runtime.Error {
	return &runtime.Error{
		Code: runtime.CodeMissingCapability, Message: "The client lacks a capability that this request needs",
		Data: rawjson.Wrap("requiredCapabilities", required),
	}
}

// inexpressible refuses a question.
func inexpressible(reason string) error {
	return &runtime.Error{Code: runtime.CodeInvalidParams, Message: reason}
}

// cleanMeta removes what belongs to the server's connection: its progress
// token, the task of it, and what the client's era does not know.
func (q *Question) cleanMeta(params []byte, o *rawjson.Object) []rawjson.Edit {
	o.Remove("task")
	e := o.Get("_meta")
	if e == nil {
		return nil
	}
	m, err := rawjson.ObjectAt(params, e.Value)
	if err != nil {
		return nil
	}
	m.Remove("progressToken")
	for _, name := range append(modernMeta(), MetaServer, MetaRelatedTask, MetaImmediateResponse) {
		m.Remove(name)
	}
	if m.Len() == 0 && len(m.Entries) > 0 {
		o.Remove("_meta")
		return nil
	}
	return m.Edits()
}

// elicitation converts the params of elicitation/create.
func (q *Question) elicitation(params []byte, o *rawjson.Object) ([]rawjson.Edit, error) {
	mode := ""
	if e := o.Get("mode"); e != nil {
		mode, _ = rawjson.String(params, e.Value)
	}
	q.setMessage(params, o, mode)
	id := o.Get("elicitationId")
	switch to := q.to(); {
	case IsModern(to):
		o.Remove("elicitationId")
		if mode == "" {
			o.Remove("mode")
			o.Add("mode", []byte(`"form"`))
		}
		return nil, nil
	case to < sinceElicitation:
		return nil, inexpressible("revision " + to + " has no elicitation")
	case mode == "url" && to < sinceURL:
		return nil, inexpressible("revision " + to + " has no elicitation by URL")
	case mode == "url" && id == nil:
		o.Add("elicitationId", rawjson.Quote(nil, q.newID()))
		return nil, nil
	case to < sinceURL:
		o.Remove("mode")
		return formOf2025June(params, o)
	}
	return nil, nil
}

// setMessage names in an elicitation's message the server that asks, and warns
// of a form that asks for a secret: "servers MUST NOT request sensitive
// information through form mode" (2025-11-25, Elicitation).
func (q *Question) setMessage(params []byte, o *rawjson.Object, mode string) {
	e := o.Get("message")
	if e == nil {
		return
	}
	text, ok := rawjson.String(params, e.Value)
	if !ok {
		return
	}
	said := text
	if q.Name != "" {
		said = q.Name + ": " + said
	}
	if mode != "url" {
		if names := secrets(params, o); names != nil {
			said += "\n\nWarning from mcpctl: this form asks for what looks like a secret (" + strings.Join(names, ", ") + "). No server should ask for one in a form."
		}
	}
	if said != text {
		o.Replace(e, rawjson.Quote(nil, said))
	}
}

// secrets returns the names of a form's fields that look like secrets.
func secrets(params []byte, o *rawjson.Object) []string {
	schema := o.Get("requestedSchema")
	if schema == nil {
		return nil
	}
	properties, err := rawjson.Field(schema.Value.Of(params), "properties")
	if err != nil || !properties.Present() {
		return nil
	}
	fields, err := rawjson.Entries(properties.Of(schema.Value.Of(params)))
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range fields {
		name := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(f.Name))
		if slices.ContainsFunc([]string{"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "accesstoken", "authtoken", "bearertoken", "refreshtoken", "credential", "creditcard", "cvv"}, func(word string) bool { return strings.Contains(name, word) }) {
			names = append(names, f.Name)
		}
	}
	return names
}

func (q *Question) newID() string {
	if q.NewID != nil {
		return q.NewID()
	}
	return rand.Text()
}

// formOf2025June returns the edits that put a form into the words of
// 2025-06-18: titled choices are enum and enumNames; it has no choice of
// several values.
func formOf2025June(params []byte, o *rawjson.Object) ([]rawjson.Edit, error) {
	schema := o.Get("requestedSchema")
	if schema == nil {
		return nil, nil
	}
	s, err := rawjson.ObjectAt(params, schema.Value)
	if err != nil {
		return nil, inexpressible("requestedSchema is no object")
	}
	properties := s.Get("properties")
	if properties == nil {
		return nil, nil
	}
	fields, err := rawjson.ObjectAt(params, properties.Value)
	if err != nil {
		return nil, inexpressible("requestedSchema.properties is no object")
	}
	var edits []rawjson.Edit
	for _, f := range fields.Entries {
		field, err := rawjson.ObjectAt(params, f.Value)
		if err != nil {
			continue // no field: the client's to make sense of
		}
		if e := field.Get("type"); e != nil {
			if kind, _ := rawjson.String(params, e.Value); kind == "array" {
				return nil, inexpressible("requestedSchema: " + f.Name + ": revision 2025-06-18 has no choice of several values")
			}
		}
		choice := field.Get("oneOf")
		if choice == nil {
			choice = field.Get("anyOf")
		}
		if choice == nil {
			continue
		}
		values, names, ok := titledChoices(choice.Value.Of(params))
		if !ok {
			return nil, inexpressible("requestedSchema: " + f.Name + ": no choice between titled values")
		}
		field.Remove(choice.Name)
		field.Add("enum", values)
		field.Add("enumNames", names)
		edits = append(edits, field.Edits()...)
	}
	return edits, nil
}

// titledChoices reads [{"const":VALUE,"title":NAME},…] and returns the values
// and the names as arrays.
func titledChoices(choices []byte) (values, names []byte, ok bool) {
	spans, err := rawjson.Elements(choices)
	if err != nil || len(spans) == 0 {
		return nil, nil, false
	}
	for i, s := range spans {
		var at [2]rawjson.Span
		if rawjson.Fields(s.Of(choices), at[:], "const", "title") != nil || !at[0].Present() {
			return nil, nil, false
		}
		value := at[0].Of(s.Of(choices))
		name := at[1].Of(s.Of(choices))
		if name == nil {
			name = value
		}
		comma := byte(',')
		if i == 0 {
			comma = '['
		}
		values = append(append(values, comma), value...)
		names = append(append(names, comma), name...)
	}
	return append(values, ']'), append(names, ']'), true
}

// removeTools removes the tools of sampling for a client whose revision has
// none: what it answers is text then.
func removeTools(params json.RawMessage) (json.RawMessage, error) {
	o, err := rawjson.ObjectAt(params, rawjson.Whole(params))
	if err != nil {
		return nil, inexpressible("sampling/createMessage: params are no object")
	}
	o.Remove("tools")
	o.Remove("toolChoice")
	return rawjson.Apply(params, o.Edits()), nil
}

// sampling converts the params of sampling/createMessage.
func (q *Question) sampling(params []byte, o *rawjson.Object) ([]rawjson.Edit, error) {
	if e := o.Get("includeContext"); e != nil {
		// Behind a proxy "thisServer" would be every server's.
		if s, _ := rawjson.String(params, e.Value); s != "none" {
			o.Remove("includeContext")
		}
	}
	messages := o.Get("messages")
	if messages == nil || q.to() >= sinceURL {
		return nil, nil
	}
	spans, err := rawjson.ElementsAt(params, messages.Value)
	if err != nil {
		return nil, inexpressible("sampling/createMessage: messages are no array")
	}
	c := Conversion{From: q.From, To: q.To}
	var edits []rawjson.Edit
	for _, at := range spans {
		more, err := c.singleBlock(params, at)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return edits, nil
}

// singleBlock returns the edits that leave a message of sampling with one block
// of content, as before 2025-11-25. One of several blocks becomes as many
// messages of the same role.
func (c *Conversion) singleBlock(text []byte, at rawjson.Span) ([]rawjson.Edit, error) {
	m, err := rawjson.ObjectAt(text, at)
	if err != nil {
		return nil, inexpressible("sampling/createMessage: a message is no object")
	}
	content := m.Get("content")
	if content == nil {
		return nil, nil
	}
	blocks := []rawjson.Span{{End: content.Value.End - content.Value.Start}}
	array := text[content.Value.Start] == '['
	if array {
		if blocks, err = rawjson.Elements(content.Value.Of(text)); err != nil {
			return nil, err
		}
	}
	for _, b := range blocks {
		block := b.Of(content.Value.Of(text))
		kind, err := rawjson.Field(block, "type")
		if err != nil {
			return nil, inexpressible("sampling/createMessage: a block of content is no object")
		}
		if s, _ := rawjson.String(block, kind); s == "tool_use" || s == "tool_result" {
			return nil, inexpressible(fmt.Sprintf("sampling/createMessage: revision %s has no content of type %s", c.to(), s))
		}
	}
	if !array {
		return c.block(text, content.Value), nil
	}
	if len(blocks) == 0 {
		return []rawjson.Edit{{Span: content.Value, New: []byte(`{"type":"text","text":""}`)}}, nil
	}
	var out []byte
	for i, b := range blocks {
		block := b.Of(content.Value.Of(text))
		block = rawjson.Apply(block, c.block(block, rawjson.Whole(block)))
		one := rawjson.Splice(nil, at.Of(text), rawjson.Edit{
			Span: rawjson.Span{Start: content.Value.Start - at.Start, End: content.Value.End - at.Start}, New: block,
		})
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, one...)
	}
	return []rawjson.Edit{{Span: at, New: out}}, nil
}

// Reply converts the client's answer to the server's revision: an answer to
// sampling is one block of content for a server older than 2025-11-25.
func (q *Question) Reply(result json.RawMessage) (json.RawMessage, error) {
	o, err := rawjson.ObjectAt(result, rawjson.Whole(result))
	if err != nil {
		return nil, &runtime.ProtocolError{Reason: q.Method + ": the client's answer is no object", Sample: sample(result)}
	}
	o.Remove(MemberResultType)
	edits := q.cleanMeta(result, o)
	if q.Method == MethodSamplingCreateMessage && orLatest(q.From) < sinceURL {
		more, err := replyContent(result, o)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return rawjson.Apply(result, append(edits, o.Edits()...)), nil
}

// replyContent leaves an answer to sampling with one block of content: blocks
// of text are joined.
func replyContent(result []byte, o *rawjson.Object) ([]rawjson.Edit, error) {
	content := o.Get("content")
	if content == nil || result[content.Value.Start] != '[' {
		return nil, nil
	}
	list := content.Value.Of(result)
	blocks, err := rawjson.Elements(list)
	if err != nil {
		return nil, err
	}
	if len(blocks) == 1 {
		return []rawjson.Edit{{Span: content.Value, New: blocks[0].Of(list)}}, nil
	}
	var text bytes.Buffer
	for i, b := range blocks {
		var at [2]rawjson.Span
		if rawjson.Fields(b.Of(list), at[:], "type", "text") != nil {
			return nil, &runtime.ProtocolError{Reason: "sampling/createMessage: a block of the client's answer is no object"}
		}
		kind, _ := rawjson.String(b.Of(list), at[0])
		if kind != "text" {
			return nil, &runtime.ProtocolError{Reason: fmt.Sprintf(
				"sampling/createMessage: the client answers with several blocks, one of type %s, which the server's revision cannot express", kind)}
		}
		s, _ := rawjson.String(b.Of(list), at[1])
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(s)
	}
	block := append(rawjson.Quote([]byte(`{"type":"text","text":`), text.String()), '}')
	return []rawjson.Edit{{Span: content.Value, New: block}}, nil
}
