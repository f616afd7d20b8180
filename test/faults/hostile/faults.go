package hostile

import (
	"fmt"
	"strings"
	"time"
)

// invoke asks the program as the server of a hook (SEP-2624, a draft). It lets all pass.
const (
	invoke       = "interceptor/invoke"
	interceptors = `"interceptors":[{"name":"check","type":"validation","hooks":[{"events":["tools/call"],"phase":"request"}]}]`
)

const twoTools = `{"name":"echo","inputSchema":{"type":"object"}},{"name":"slow","inputSchema":{"type":"object"}}`

// list answers tools/list, and interceptors/list.
func (s *server) list(m *message) {
	switch {
	case s.has("exit-on-list"):
		s.exit(5)
	case s.has("hang-list"), s.has("hang-second-page") && m.Params.Cursor != "":
	case s.has("endless-pages"):
		s.answer(m, fmt.Sprintf(`{"tools":[%s],"nextCursor":"%sx"}`, tool(len(m.Params.Cursor), 0), m.Params.Cursor))
	case s.has("hang-second-page"):
		s.answer(m, `{"tools":[`+twoTools+`],"nextCursor":"2"}`)
	case s.has("huge-list"):
		tools := []string{twoTools}
		for i := range 20_000 {
			tools = append(tools, tool(i, 500))
		}
		s.answer(m, `{"tools":[`+strings.Join(tools, ",")+`]}`)
	default:
		s.answer(m, `{"tools":[`+twoTools+`],`+interceptors+`}`)
	}
}

func tool(n, size int) string {
	return fmt.Sprintf(`{"name":"t%d","description":"%s","inputSchema":{"type":"object"}}`, n, strings.Repeat("d", size))
}

// call answers tools/call and interceptor/invoke, or does worse.
func (s *server) call(m *message) {
	id, right := string(m.ID), Text(s.name, m.Params.Arguments.Message)
	if m.Method == invoke {
		right = `{"valid":true}`
	}
	switch {
	case s.has("exit-on-call"):
		s.exit(6)
	case s.has("hang-call"), s.has("never-reads"):
	case s.has("half-line"):
		s.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"ty`)
		s.mu.Lock()
		s.mute = true
		s.mu.Unlock()
	case s.has("wrong-ids"):
		s.write(`{"jsonrpc":"2.0","id":"no-such-id","result":` + Text(s.name, "WRONG") + "}\n")
		s.write(`{"jsonrpc":"2.0","id":1` + id + `0000,"result":` + Text(s.name, "WRONG") + "}\n")
		s.write(`{"jsonrpc":"2.0","id":-1,"result":` + Text(s.name, "WRONG") + "}\n")
	case s.has("null-id"):
		s.write(`{"jsonrpc":"2.0","id":null,"result":` + Text(s.name, "WRONG") + "}\n")
		s.write(`{"jsonrpc":"2.0","result":` + Text(s.name, "WRONG") + "}\n")
		s.answer(m, right)
	case s.has("twice"):
		s.answer(m, right)
		s.answer(m, Text(s.name, "WRONG"))
		s.write(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"WRONG"}}` + "\n")
	case s.has("ask-pending-id"):
		s.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` + "\n")
		s.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"roots/list"}` + "\n")
		s.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1},"result":{"content":[{"type":"text","text":"WRONG"}]}}` + "\n")
		s.answer(m, right)
	case s.has("after-cancel"):
		s.afterCancel(m, right)
	case s.has("long-answer"):
		s.answer(m, Text(s.name, m.Params.Arguments.Message+" "+strings.Repeat("y", 8<<20)))
	case s.has("too-long"):
		s.answer(m, Text(s.name, strings.Repeat("y", 80<<20)))
	case s.has("deep-answer"):
		s.answer(m, `{"content":[],"structuredContent":`+strings.Repeat(`{"a":[`, 100_000)+strings.Repeat(`]}`, 100_000)+`}`)
	case s.has("bad-utf8"):
		s.answer(m, `{"content":[{"type":"text","text":"`+s.name+": "+m.Params.Arguments.Message+"\xff\xfe\xc0\x80"+`\ud800"}]}`)
	case s.has("flood-progress"):
		token := string(m.Params.Meta.ProgressToken)
		for i := 0; token != "" && i < 20_000; i++ {
			s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`+"\n", token, i))
		}
		s.answer(m, right)
	case s.has("close-stdout"):
		s.mu.Lock()
		_ = s.out.Close()
		s.mu.Unlock()
	case s.has("close-stdin"):
		s.answer(m, right)
		_ = s.in.Close()
	default:
		time.Sleep(time.Duration(m.Params.Arguments.Ms) * time.Millisecond)
		s.answer(m, right)
	}
}

// afterCancel waits to be cancelled, and answers then, more than once.
func (s *server) afterCancel(m *message, right string) {
	cancelled := make(chan struct{})
	s.mu.Lock()
	s.cancelled[string(m.ID)] = cancelled
	first := !s.once
	s.once = true
	s.mu.Unlock()
	if !first {
		s.answer(m, right)
		return
	}
	<-cancelled
	for range 3 {
		s.answer(m, Text(s.name, "WRONG"))
	}
}

// flood starts what goes on without end once the server is up.
func (s *server) flood() {
	each := func(what string) {
		go func() { // ends with the program
			for {
				s.write(what)
			}
		}()
	}
	switch {
	case s.has("flood-notifications"):
		each(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"` + strings.Repeat("n", 200) + `"}}` + "\n")
	case s.has("flood-changes"):
		each(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
	case s.has("flood-requests"):
		each(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}` + "\n")
	case s.has("flood-garbage"):
		each("this is no message { [ \x00\xff " + strings.Repeat("g", 100) + "\n")
	case s.has("flood-endless"):
		go func() { // ends with the program; the lock is kept: a line does not end
			s.mu.Lock()
			defer s.mu.Unlock()
			for block := strings.Repeat("e", 64<<10); ; {
				if _, err := s.out.Write([]byte(block)); err != nil {
					return
				}
			}
		}()
	}
	if s.has("flood-stderr") {
		go func() { // ends with the program
			for line := strings.Repeat("stderr ", 100) + "\n"; ; {
				if _, err := fmt.Fprint(s.stderr, line); err != nil {
					return
				}
			}
		}()
	}
}
