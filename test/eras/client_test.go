package eras_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/test/wire"
)

const (
	modernVersion = "2026-07-28"
	legacyVersion = "2025-11-25"

	metaPrefix   = "io.modelcontextprotocol/"
	subscription = metaPrefix + "subscriptionId"

	// envelope is a member of every message that no revision knows: it is
	// passed over.
	envelope = `"x-grease":{"n":1.0},`

	// everything a client can be asked.
	everything = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}}`
	tasksToo   = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

type message = wire.Message

// transport carries messages to one endpoint. What comes back goes to the client's
// receive.
type transport interface {
	// send sends a message; call is that of a request, nil for anything else.
	send(ctx context.Context, frame []byte, call *call, headers http.Header) error
	// close ends the connection and waits for its goroutines.
	close()
}

// client is one client of an endpoint.
type client struct {
	modern       bool
	revision     string // that it shakes hands for
	label        string // is in its answers to questions
	capabilities string
	inside       bool // calls are made inside those of call_tool
	wire         transport
	ctx          context.Context //nolint:containedctx // the client's life, ended by close
	end          context.CancelFunc

	mu        sync.Mutex
	next      int
	calls     map[string]*call
	notes     []message // outside of calls
	every     []*call   // that has ever been started
	questions []message
	strays    []string // messages that should not have come
	names     map[string]string
	news      chan struct{} // closed and replaced when something comes
	work      sync.WaitGroup
}

func newClient(modern bool, label string) *client {
	c := &client{modern: modern, revision: legacyVersion, label: label, capabilities: everything, calls: map[string]*call{}, news: make(chan struct{})}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

func (c *client) close() {
	c.end()
	c.wire.close()
	c.work.Wait()
}

// ask is a request to be: members of params and of _meta as text without
// braces.
type ask struct {
	method, members, meta string
	id                    string // raw; "" is the client's next
	capabilities          string // of this request, modern only; "" is the client's
	headers               http.Header
}

// call is a request in flight.
type call struct {
	c         *client
	id, token string             // raw
	ctx       context.Context    //nolint:containedctx // the request's, ended by hangUp
	hangUp    context.CancelFunc // closes the request's own stream, over HTTP
	answered  chan struct{}      // closed when there is an answer

	mu     sync.Mutex
	notes  []message // within the call
	answer message
	err    error
	status int // over HTTP
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ",")
}

// start sends a request.
func (c *client) start(a ask) *call {
	if c.inside {
		a = a.within()
	}
	meta := a.meta
	if c.modern {
		capabilities := c.capabilities
		if a.capabilities != "" {
			capabilities = a.capabilities
		}
		meta = join(`"`+metaPrefix+`protocolVersion":"`+modernVersion+`","`+metaPrefix+`clientInfo":{"name":"eras","version":"1"},"`+metaPrefix+`clientCapabilities":`+capabilities, meta)
	}
	if meta != "" {
		meta = `"_meta":{` + meta + `}`
	}
	c.mu.Lock()
	id := a.id
	if id == "" {
		c.next++
		id = strconv.Itoa(c.next)
	}
	k := &call{c: c, id: id, answered: make(chan struct{})}
	k.ctx, k.hangUp = context.WithCancel(c.ctx)
	var m struct {
		Token json.RawMessage `json:"progressToken"`
	}
	_ = json.Unmarshal([]byte(`{`+a.meta+`}`), &m)
	k.token = string(m.Token)
	c.calls[id] = k
	c.every = append(c.every, k)
	c.mu.Unlock()
	frame := fmt.Sprintf(`{%s"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, envelope, id, a.method, join(a.members, meta))
	headers := a.headers
	if c.modern && headers == nil {
		headers = mirrors(a)
	}
	if err := c.wire.send(k.ctx, []byte(frame), k, headers); err != nil {
		k.fail(err)
	}
	return k
}

// notify sends a notification.
func (c *client) notify(method, members string) error {
	return c.wire.send(c.ctx, fmt.Appendf(nil, `{%s"jsonrpc":"2.0","method":%q,"params":{%s}}`, envelope, method, members), nil, nil)
}

func (k *call) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended() {
		k.err = err
		close(k.answered)
	}
}

// ended reports whether there is an answer, or an error in its place.
func (k *call) ended() bool {
	select {
	case <-k.answered:
		return true
	default:
		return false
	}
}

// wait returns the answer.
func (k *call) wait(ctx context.Context) (message, error) {
	select {
	case <-k.answered:
	case <-ctx.Done():
		return message{}, fmt.Errorf("no answer to request %s", k.id)
	}
	k.c.mu.Lock()
	if k.c.calls[k.id] == k {
		delete(k.c.calls, k.id)
	}
	k.c.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.answer, k.err
}

// roundTrip sends a request and returns its result as it comes.
func (c *client) roundTrip(ctx context.Context, a ask) (json.RawMessage, error) {
	m, err := c.start(a).wait(ctx)
	if err != nil {
		return nil, err
	}
	return m.Outcome()
}

// interim is a result that asks for input.
type interim struct {
	Type     string             `json:"resultType"`
	Requests map[string]message `json:"inputRequests"`
	State    json.RawMessage    `json:"requestState"`
}

func asInterim(raw json.RawMessage) (*interim, bool) {
	var i interim
	if json.Unmarshal(raw, &i) != nil || i.Type != "input_required" {
		return nil, false
	}
	return &i, true
}

// retry is the request that answers what an interim result asks.
func (c *client) retry(a ask, i *interim) ask {
	var answers []string
	for key, q := range i.Requests {
		c.mu.Lock()
		c.questions = append(c.questions, q)
		c.mu.Unlock()
		if res, err := c.reply(q); err == nil {
			answers = append(answers, fmt.Sprintf("%q:%s", key, res))
		}
	}
	slices.Sort(answers)
	again := a
	again.id = ""
	if len(i.Requests) > 0 {
		again.members = join(again.members, `"inputResponses":{`+strings.Join(answers, ",")+`}`)
	}
	if i.State != nil {
		again.members = join(again.members, `"requestState":`+string(i.State))
	}
	return again
}

// request sends a request and answers what it asks for, until it is complete.
func (c *client) request(ctx context.Context, a ask) (json.RawMessage, error) {
	next := a
	for range 8 {
		raw, err := c.roundTrip(ctx, next)
		if err != nil {
			return nil, err
		}
		i, ok := asInterim(raw)
		if !ok {
			return raw, nil
		}
		if !c.modern {
			return nil, fmt.Errorf("a client of the handshake era got %s", raw)
		}
		next = c.retry(a, i)
	}
	return nil, errors.New("asked for input eight times")
}

// accepted is a client's answer to a form, with a member that no revision knows.
func accepted(label string) string {
	return `{"action":"accept","content":{"name":"` + label + ` é"},"x-unknown":{"n":1.0,"big":9007199254740993}}`
}

// reply is what the client answers to a question.
func (c *client) reply(q message) (json.RawMessage, error) {
	switch q.Method {
	case "ping":
		return json.RawMessage(`{}`), nil
	case "elicitation/create":
		if strings.Contains(string(q.Params), `"mode":"url"`) {
			return json.RawMessage(`{"action":"accept"}`), nil
		}
		return json.RawMessage(accepted(c.label)), nil
	case "sampling/createMessage":
		return json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"` + c.label + `"},"model":"m","stopReason":"endTurn"}`), nil
	case "roots/list":
		return json.RawMessage(`{"roots":[{"uri":"file:///home/` + c.label + `","name":"r"}]}`), nil
	}
	return nil, errors.New("method not found")
}

// receive takes a message from the wire; on is the call on whose own stream it
// came, nil where calls have none.
func (c *client) receive(frame []byte, on *call) {
	m, err := parse(frame)
	if err != nil {
		c.stray("not JSON: %.200s", frame)
		return
	}
	switch {
	case m.Method == "":
		c.handleAnswer(m, on)
	case m.ID != nil:
		c.handleRequest(m)
	default:
		c.handleNotification(m, on)
	}
	c.mu.Lock()
	close(c.news)
	c.news = make(chan struct{})
	c.mu.Unlock()
}

// parse decodes a message. A large one is an answer whose result is looked
// at by the check: reading it all takes longer than everything else.
func parse(frame []byte) (m message, err error) {
	const prefix, result = `{"jsonrpc":"2.0","id":`, `,"result":`
	if i := bytes.Index(frame[:min(len(frame), 1000)], []byte(result)); len(frame) > 1<<20 && i > 0 && bytes.HasPrefix(frame, []byte(prefix)) {
		m.ID, m.Result = frame[len(prefix):i], frame[i+len(result):len(frame)-1]
		return m, nil
	}
	return m, json.Unmarshal(frame, &m)
}

func (c *client) stray(format string, a ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strays = append(c.strays, fmt.Sprintf(format, a...))
}

func (c *client) handleAnswer(m message, on *call) {
	k := on
	if k == nil {
		c.mu.Lock()
		k = c.calls[string(m.ID)]
		c.mu.Unlock()
	}
	if k == nil || k.id != string(m.ID) && string(m.ID) != "null" {
		c.stray("an answer that nobody waits for: id %s, %.200s%.200s", m.ID, m.Result, m.Error)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended() {
		c.stray("a second answer with id %s", m.ID)
		return
	}
	k.answer = m
	close(k.answered)
}

// handleRequest answers a question of the server: only a client of the handshake era
// may get one this way.
func (c *client) handleRequest(m message) {
	if c.modern {
		c.stray("a request of the server: %s", m.Method)
	}
	c.mu.Lock()
	if m.Method != "ping" {
		c.questions = append(c.questions, m)
	}
	c.mu.Unlock()
	c.work.Go(func() {
		res, err := c.reply(m)
		frame := fmt.Sprintf(`{%s"jsonrpc":"2.0","id":%s,"result":%s}`, envelope, m.ID, res)
		if err != nil {
			frame = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":%q}}`, m.ID, err)
		}
		if err := c.wire.send(c.ctx, []byte(frame), nil, nil); err != nil && c.ctx.Err() == nil {
			c.stray("answer a question: %v", err)
		}
	})
}

func (c *client) handleNotification(m message, on *call) {
	var p struct {
		Token json.RawMessage            `json:"progressToken"`
		Meta  map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p)
	c.mu.Lock()
	defer c.mu.Unlock()
	k := on
	if k != nil && k.ctx.Err() != nil {
		return // it was on its way when the client hung up
	}
	if m.Method == "notifications/progress" && k == nil {
		for _, other := range c.calls {
			if other.token != "" && other.token == string(p.Token) {
				k = other
			}
		}
		if k == nil {
			c.strays = append(c.strays, "progress that nobody asked for: "+string(m.Params))
			return
		}
	}
	if id := p.Meta[subscription]; id != nil && k == nil {
		k = c.calls[string(id)]
	}
	if k == nil {
		c.notes = append(c.notes, m)
		return
	}
	k.mu.Lock()
	k.notes = append(k.notes, m)
	k.mu.Unlock()
}

// await waits until something holds, looked at whenever a message comes.
func (c *client) await(ctx context.Context, what string, holds func() bool) error {
	for {
		c.mu.Lock()
		news := c.news
		c.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return errors.New("never came: " + what)
		}
	}
}

// count counts notifications of a method: within the call k, or outside of
// calls where k is nil.
func (c *client) count(k *call, method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	notes := c.notes
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		notes = k.notes
	}
	n := 0
	for _, m := range notes {
		if m.Method == method {
			n++
		}
	}
	return n
}

// takeQuestions returns what has been asked since the last time.
func (c *client) takeQuestions() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.questions
	c.questions = nil
	return out
}

func (c *client) takeStrays() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.strays
	c.strays = nil
	return out
}

// tool returns the exposed name of a backend's tool.
func (c *client) tool(ctx context.Context, bare string) (string, error) {
	c.mu.Lock()
	name := c.names[bare]
	c.mu.Unlock()
	if name != "" {
		return name, nil
	}
	list, err := c.list(ctx, "tools")
	if err != nil {
		return "", err
	}
	names := map[string]string{}
	for _, t := range list {
		var d struct {
			Name string                     `json:"name"`
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		var fake string
		if json.Unmarshal(t, &d) == nil && json.Unmarshal(d.Meta["fake/name"], &fake) == nil {
			names[fake] = d.Name
		}
	}
	c.mu.Lock()
	c.names = names
	c.mu.Unlock()
	if names[bare] == "" {
		return "", fmt.Errorf("no tool %s in a list of %d", bare, len(list))
	}
	return names[bare], nil
}

// list returns all entries of a list, page by page.
func (c *client) list(ctx context.Context, kind string) ([]json.RawMessage, error) {
	method, member := kind+"/list", kind
	if kind == "templates" {
		method, member = "resources/templates/list", "resourceTemplates"
	}
	var out []json.RawMessage
	members := ""
	for range 100 {
		raw, err := c.roundTrip(ctx, ask{method: method, members: members})
		if err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(page[member], &items); err != nil {
			return nil, fmt.Errorf("%s: %w", member, err)
		}
		out = append(out, items...)
		if page["nextCursor"] == nil {
			return out, nil
		}
		members = `"cursor":` + string(page["nextCursor"])
	}
	return nil, errors.New("a list of a hundred pages")
}

// calling is a tools/call request.
func (c *client) calling(ctx context.Context, bare, arguments, meta string) (ask, error) {
	name, err := c.tool(ctx, bare)
	if err != nil {
		return ask{}, err
	}
	if arguments == "" {
		arguments = "{}"
	}
	return ask{method: "tools/call", members: fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments), meta: meta}, nil
}

// use calls a tool and answers what it asks.
func (c *client) use(ctx context.Context, bare, arguments string) (json.RawMessage, error) {
	a, err := c.calling(ctx, bare, arguments, "")
	if err != nil {
		return nil, err
	}
	return c.request(ctx, a)
}
