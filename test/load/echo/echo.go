// Package echo is the server that load is put on: it answers at once, over
// standard input and output or over Streamable HTTP, and can be told to offer
// many tools, to begin slowly, to leave a mark when it starts and counts of
// what it was asked, and to answer wrongly. Its tools:
//
//	echo   {"text": T}    T
//	sleep  {"text": T, "ms": N}  T, N milliseconds later
//	big    {"size": N}    a text of N bytes
//
// and as many tools extra_0, extra_1… as Options say, which do nothing.
//
// It decodes each message with encoding/json, as ordinary servers do.
package echo

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Options is how a server behaves. The zero value is one that answers well.
type Options struct {
	// Tools is how many tools there are beside the three.
	Tools int
	// Delay is how long the server waits before it reads anything.
	Delay time.Duration
	// Wrong makes every so many-th call be answered with another's text; 0 is
	// none.
	Wrong int
	// WrongID does the same with the answer's id.
	WrongID int
}

// server answers messages. It may be used concurrently.
type server struct {
	o     Options
	tools json.RawMessage
	calls atomic.Int64
	last  atomic.Pointer[string]
}

func newServer(o Options) *server {
	time.Sleep(o.Delay)
	return &server{o: o, tools: toolList(o.Tools)}
}

type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

type callParams struct {
	Name      string `json:"name"`
	Arguments struct {
		Text string `json:"text"`
		Ms   int    `json:"ms"`
		Size int    `json:"size"`
	} `json:"arguments"`
}

func toolList(extra int) json.RawMessage {
	const schema = `{"type":"object","properties":{"text":{"type":"string"},"ms":{"type":"integer"},"size":{"type":"integer"}}}`
	var b strings.Builder
	b.WriteString(`{"tools":[`)
	for i, name := range []string{"echo", "sleep", "big"} {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"%s","description":"%s, for load","inputSchema":%s}`, name, name, schema)
	}
	for i := range extra {
		fmt.Fprintf(&b, `,{"name":"extra_%d","description":"Tool number %d, which looks an item up in a catalogue and gives its details.",`+
			`"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":100}},"required":["query"]}}`, i, i)
	}
	b.WriteString(`]}`)
	return json.RawMessage(b.String())
}

// answer returns the answer to a message, or false where there is none to give.
func (s *server) answer(m message) (message, bool) {
	if m.Method == "" || len(m.ID) == 0 {
		return message{}, false
	}
	out := message{JSONRPC: "2.0", ID: m.ID}
	switch m.Method {
	case "initialize":
		var p struct {
			Version string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &p) // without one it is the latest
		if p.Version == "" || p.Version > latest {
			p.Version = latest
		}
		out.Result = fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`, p.Version)
	case "ping":
		out.Result = json.RawMessage(`{}`)
	case "tools/list":
		out.Result = s.tools
	case "tools/call":
		return s.call(m, out), true
	default:
		out.Error = json.RawMessage(`{"code":-32601,"message":"Method not found"}`)
	}
	return out, true
}

// latest is the newest revision with a handshake.
const latest = "2025-11-25"

func (s *server) call(m, out message) message {
	var p callParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		out.Error = json.RawMessage(`{"code":-32602,"message":"params are no call"}`)
		return out
	}
	text := p.Arguments.Text
	switch {
	case p.Name == "echo" || strings.HasPrefix(p.Name, "extra_"):
	case p.Name == "sleep":
		time.Sleep(time.Duration(p.Arguments.Ms) * time.Millisecond)
	case p.Name == "big":
		text = strings.Repeat("x", max(0, min(p.Arguments.Size, maxBig)))
	default:
		out.Error = json.RawMessage(`{"code":-32602,"message":"Unknown tool"}`)
		return out
	}
	if s.o.Wrong > 0 || s.o.WrongID > 0 {
		text, out.ID = s.spoil(text, out.ID)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("echo: a text has no JSON form: " + err.Error())
	}
	out.Result = append(append([]byte(`{"content":[{"type":"text","text":`), quoted...), `}]}`...)
	return out
}

// maxBig bounds the answer of big.
const maxBig = 64 << 20

// spoil makes an answer wrong, when it is its turn.
func (s *server) spoil(text string, id json.RawMessage) (string, json.RawMessage) {
	n := s.calls.Add(1)
	if s.o.Wrong > 0 && n%int64(s.o.Wrong) == 0 {
		if last := s.last.Load(); last != nil {
			return *last, id
		}
	}
	s.last.Store(&text)
	if s.o.WrongID > 0 && n%int64(s.o.WrongID) == 0 {
		return text, json.RawMessage("1" + string(id))
	}
	return text, id
}
