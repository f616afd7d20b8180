package management_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/management"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// program stands for mcpctl: its add has a person approve the proposal, and prints.
type program struct {
	proposal adding.Proposal
	ran      [][]string
	added    int
}

func (p *program) run(ctx context.Context, approve adding.Approve, words ...string) management.Outcome {
	p.ran = append(p.ran, words)
	switch words[0] {
	case "add":
		if err := approve(ctx, p.proposal); err != nil {
			return management.Outcome{Code: 1, Stderr: []byte(`{"error":{"kind":"other","message":"not approved"}}`)}
		}
		p.added++
		return management.Outcome{Stdout: []byte(`{"alias":"thing","entry":{},"required":[{"name":"THING_TOKEN","secret":true}],"warnings":[]}`), Stderr: []byte("install it first: x\n")}
	case "get":
		return management.Outcome{Stdout: []byte(`{"name":"thing","entry":{"command":"npx","args":["thing"]}}`)}
	case "remove":
		p.added--
		return management.Outcome{Stdout: []byte(`{"removed":["thing"]}`)}
	case "search":
		return management.Outcome{Stdout: []byte(`{"servers":[{"name":"a/b","title":"\u202eevil\u200b \u001b[31mred"}]}`)}
	}
	return management.Outcome{Code: 6, Stderr: []byte("a note\n" + `{"error":{"kind":"connect","message":"no registry","hint":"wait"}}`)}
}

func proposal() adding.Proposal {
	return adding.Proposal{Plan: &scaffold.Plan{
		Alias: "thing", Entry: json.RawMessage(`{"command":"npx","args":["-y","thing@1.0.0"],"env":{"THING_TOKEN":"${THING_TOKEN}"}}`),
		Required: []scaffold.Requirement{{Name: "THING_TOKEN", Secret: true, Description: "PERSUASION"}},
		Origin:   config.Origin{Registry: "http://127.0.0.1/v0.1", Name: "com.example/thing", Version: "1.0.0"},
		Warnings: []string{"first\u202e line\nsecond"},
	}}
}

// host is the other side: it writes lines and reads them.
type host struct {
	t        *testing.T
	revision string
	in       io.WriteCloser
	out      *bufio.Scanner
	ended    chan error
	id       int
}

const forms = `{"elicitation":{}}`

// newHost starts the server and connects to it in a revision.
func newHost(t *testing.T, p *program, revision, capabilities string) *host {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	h := &host{t: t, revision: revision, in: inW, out: bufio.NewScanner(outR), ended: make(chan error, 1)}
	h.out.Buffer(nil, 1<<20)
	go func() {
		err := management.Serve(t.Context(), inR, outW, management.Options{Version: "1", ConfigPath: "/home/me/servers.json", Run: p.run})
		_ = outW.Close()
		h.ended <- err
	}()
	if revision < "2026" {
		h.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`, revision, capabilities)
		h.receive()
	}
	return h
}

func (h *host) send(format string, a ...any) {
	h.t.Helper()
	if _, err := fmt.Fprintf(h.in, format+"\n", a...); err != nil {
		h.t.Fatal(err)
	}
}

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result struct {
		Type     string `json:"resultType"`
		State    string `json:"requestState"`
		Requests map[string]struct {
			Params json.RawMessage
		} `json:"inputRequests"`
		Content    []struct{ Text string }
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool
	}
}

func (m message) text() string {
	if len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

func (h *host) receive() message {
	h.t.Helper()
	if !h.out.Scan() {
		h.t.Fatal("the server has ended")
	}
	var m message
	if err := json.Unmarshal(h.out.Bytes(), &m); err != nil {
		h.t.Fatal(err)
	}
	return m
}

// call calls a tool; more are further members of the params.
func (h *host) call(tool, arguments, more string) {
	h.t.Helper()
	h.id++
	if h.revision >= "2026" {
		more += fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s}`, h.revision, forms)
	}
	h.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, h.id, tool, arguments, more)
}

// ask calls a tool up to the question, and returns its params and, since 2026-07-28, the
// state.
func (h *host) ask(tool, arguments string) (params, answerTo string) {
	h.t.Helper()
	h.call(tool, arguments, "")
	m := h.receive()
	if h.revision >= "2026" {
		return string(m.Result.Requests["approve"].Params), m.Result.State
	}
	return string(m.Params), string(m.ID)
}

// answer answers the question of a call that is not over.
func (h *host) answer(tool, arguments, answerTo, answer string) message {
	h.t.Helper()
	if h.revision >= "2026" {
		h.call(tool, arguments, fmt.Sprintf(`,"requestState":%q,"inputResponses":{"approve":%s}`, answerTo, answer))
	} else {
		h.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, answerTo, answer)
	}
	return h.receive()
}

// close ends the server.
func (h *host) close() {
	h.t.Helper()
	if err := h.in.Close(); err != nil {
		h.t.Error(err)
	}
	for h.out.Scan() {
		h.t.Errorf("unexpected: %s", h.out.Bytes())
	}
	if err := <-h.ended; err != nil {
		h.t.Error(err)
	}
}

const yes = `{"action":"accept","content":{"approve":true}}`

var revisions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		for _, tt := range []struct {
			answer string
			added  int
			want   string
		}{
			{yes, 1, `"alias":"thing"`},
			{`{"action":"accept","content":{"approve":false}}`, 0, "The person has declined"},
			{`{"action":"accept","content":{"approve":"true"}}`, 0, "not one of a person"},
			{`{"action":"accept","content":{}}`, 0, "not one of a person"},
			{`{"action":"accept"}`, 0, "not one of a person"},
			{`{"action":"decline"}`, 0, "The person has declined. Nothing is changed. A person can do it in a terminal: mcpctl add io.example/thing"},
			{`{"action":"decline","content":{"approve":true}}`, 0, "The person has declined"},
			{`{"action":"cancel","content":{"approve":true}}`, 0, "closed the question"},
			{`{"approve":true}`, 0, "not one of a person"},
			{`[true]`, 0, "not one of a person"},
		} {
			t.Run(revision+tt.answer, func(t *testing.T) {
				t.Parallel()
				p := &program{proposal: proposal()}
				h := newHost(t, p, revision, forms)
				defer h.close()
				params, to := h.ask("add_server", `{"name":"io.example/thing"}`)
				if mode := strings.Contains(params, `"mode":"form"`); mode != (revision >= "2025-11-25") {
					t.Errorf("got params %s", params)
				}
				m := h.answer("add_server", `{"name":"io.example/thing"}`, to, tt.answer)
				if !strings.Contains(m.text(), tt.want) || p.added != tt.added || m.Result.IsError == (tt.added == 1) {
					t.Errorf("got %d added, %+v, want %q", p.added, m, tt.want)
				}
				if tt.added == 1 && (!strings.Contains(m.text(), "The person sets THING_TOKEN") || string(m.Result.Structured) != m.text()) {
					t.Errorf("got %s", m.text())
				}
			})
		}
	}
}

// TestMessage has all of an entry shown, nothing that persuades, and nothing unreadable.
func TestMessage(t *testing.T) {
	t.Parallel()
	p := &program{proposal: proposal()}
	p.proposal.Plan.Entry = json.RawMessage(`{"command":"npx","args":["-y","thing@1.0.0"],"env":{"A":"a` + "`" + `b","THING_TOKEN":"${THING_TOKEN}"}}`)
	p.proposal.Before = &config.Entry{Command: "old", Args: []string{"--token", "sk-abcdefghijklmnopqrstuvwxyz012345"}}
	h := newHost(t, p, "2025-11-25", forms)
	defer h.close()
	params, to := h.ask("add_server", `{"name":"thing","replace":true}`)
	var asked struct {
		Message         string
		RequestedSchema json.RawMessage
	}
	if err := json.Unmarshal([]byte(params), &asked); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`An agent asks to add an MCP server to mcpctl.

Name: 'thing'
From the registry: 'com.example/thing 1.0.0, http://127.0.0.1/v0.1'
Runs: 'npx -y thing@1.0.0'
Environment: '' A=a'b ''
Environment: 'THING_TOKEN=${THING_TOKEN}'
Takes from the environment, a secret: 'THING_TOKEN'
REPLACES: 'old --token [redacted]'
Warning: 'first line second'
File: '/home/me/servers.json'`, "'", "`")
	if asked.Message != want {
		t.Errorf("got\n%s\nwant\n%s", asked.Message, want)
	}
	if s := string(asked.RequestedSchema); !strings.Contains(s, `"required":["approve"]`) || strings.Contains(s, "default") {
		t.Errorf("a host could answer %s by itself", s)
	}
	h.answer("", "", to, yes)
}

// TestNotShown refuses entries that a person could not be shown, without asking.
func TestNotShown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entry  string
		byHand bool
		want   string
	}{
		{`{"command":"npx","args":["a\u202eb"]}`, false, "invisible"},
		{`{"command":"npx","env":{"A":"x\ny"}}`, false, "line break"},
		{`{"url":"https://e\u200bxample.com"}`, false, "invisible"},
		{`{"command":"npx","x-more":"a` + "\u2066" + `"}`, false, "invisible"},
		{`{"command":"` + strings.Repeat("x", 4000) + `"}`, false, "more than 4000 characters"},
		{`{"command":"npx","args":["--token","sk-abcdefghijklmnopqrstuvwxyz012345"]}`, true, "args[1] looks like a secret"},
		{`{"url":"https://u:hunter2hunter2@example.com"}`, true, "url looks like a secret"},
	} {
		p := &program{proposal: proposal()}
		p.proposal.Plan.Entry, p.proposal.ByHand = json.RawMessage(tt.entry), tt.byHand
		h := newHost(t, p, "2025-11-25", forms)
		h.call("add_server", `{"name":"thing"}`, "")
		if m := h.receive(); !m.Result.IsError || !strings.Contains(m.text(), tt.want) || strings.Contains(m.text(), "hunter2") || strings.Contains(m.text(), "sk-abc") || p.added > 0 {
			t.Errorf("%s: got %+v, want %q", cutTo(tt.entry, 80), m, tt.want)
		}
		h.close()
	}
}

func cutTo(s string, n int) string { return s[:min(len(s), n)] }

// TestNobodyToAsk refuses where a host declares no forms.
func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`, `{"elicitation":null}`} {
		p := &program{proposal: proposal()}
		h := newHost(t, p, "2025-11-25", capabilities)
		h.call("add_server", `{"alias":"x","command":"npx","args":["a b"],"env":{"API_TOKEN":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}`, "")
		want := "mcpctl add '--env=API_TOKEN=${API_TOKEN}' x -- npx 'a b'"
		if m := h.receive(); !m.Result.IsError || !strings.HasSuffix(m.text(), want) || p.added > 0 {
			t.Errorf("%s: got %+v", capabilities, m)
		}
		h.close()
	}
}

// TestAnswerCountsOnce has an answer count for its own question alone, once, and in time.
func TestAnswerCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &program{proposal: proposal()}
		h := newHost(t, p, "2026-07-28", forms)
		defer h.close()
		const arguments = `{"name":"thing"}`
		again := func(why string, m message) string {
			t.Helper()
			if m.Result.Type != "input_required" || p.added > 0 {
				t.Fatalf("%s: got %+v", why, m)
			}
			return m.Result.State
		}
		h.ask("add_server", arguments)
		state := again("another state", h.answer("add_server", arguments, "forged", yes))

		p.proposal.Plan.Entry = json.RawMessage(`{"command":"evil"}`)
		state = again("another entry", h.answer("add_server", arguments, state, yes))

		time.Sleep(11 * time.Minute)
		state = again("too late", h.answer("add_server", arguments, state, yes))

		h.ask("remove_server", `{"server":"thing"}`)
		state = again("another question since", h.answer("add_server", arguments, state, yes))

		if m := h.answer("add_server", arguments, state, yes); p.added != 1 {
			t.Fatalf("got %+v", m)
		}
		p.added = 0
		again("a second time", h.answer("add_server", arguments, state, yes))
	})
}

// TestPressure does not ask a person again and again.
func TestPressure(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		synctest.Test(t, func(t *testing.T) {
			p := &program{proposal: proposal()}
			h := newHost(t, p, revision, forms)
			defer h.close()
			refused := func(want string) {
				t.Helper()
				h.call("add_server", `{"name":"thing"}`, "")
				if m := h.receive(); !m.Result.IsError || !strings.Contains(m.text(), want) {
					t.Fatalf("got %+v, want %q", m, want)
				}
			}
			_, to := h.ask("add_server", `{"name":"thing"}`)
			h.answer("add_server", `{"name":"thing"}`, to, `{"action":"decline"}`)
			refused("declined exactly this")
			for n := range 2 {
				p.proposal.Plan.Entry = json.RawMessage(fmt.Sprintf(`{"command":"x%d"}`, n))
				_, to = h.ask("add_server", `{"name":"thing"}`)
				h.answer("add_server", `{"name":"thing"}`, to, `{"action":"cancel"}`)
			}
			refused("several questions in a row")
			time.Sleep(6 * time.Minute)
			_, to = h.ask("add_server", `{"name":"thing"}`)
			if h.answer("add_server", `{"name":"thing"}`, to, yes); p.added != 1 {
				t.Error("it is not asked again")
			}
		})
	}
}

// TestWaiting has a host of the handshake era asked one question at a time, and for so long.
func TestWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &program{proposal: proposal()}
		h := newHost(t, p, "2025-11-25", forms)
		h.call("add_server", `{"name":"thing"}`, `,"_meta":{"progressToken":7}`)
		question := h.receive()
		h.call("add_server", `{"name":"thing"}`, "")
		if m := h.receive(); !m.Result.IsError || !strings.Contains(m.text(), "asked something else") {
			t.Fatalf("got %+v", m)
		}
		begun := time.Now()
		progress := 0
		m := h.receive()
		for ; m.Method == "notifications/progress"; m = h.receive() {
			progress++
		}
		if m.Method != "notifications/cancelled" || !strings.Contains(string(m.Params), string(question.ID)) || progress < 50 {
			t.Errorf("got %s %s after %d", m.Method, m.Params, progress)
		}
		if m = h.receive(); !m.Result.IsError || !strings.Contains(m.text(), "nobody has answered in time") || time.Since(begun) != 10*time.Minute {
			t.Errorf("got %+v after %s", m, time.Since(begun))
		}
		// A host that goes away holds nothing up.
		h.call("add_server", `{"name":"thing"}`, "")
		h.receive()
		begun = time.Now()
		_ = h.in.Close()
		for h.out.Scan() {
		}
		if err := <-h.ended; err != nil || time.Since(begun) >= time.Second || p.added > 0 {
			t.Errorf("got %v after %s", err, time.Since(begun))
		}
	})
}

// TestModelWords turns arguments of a model into words. None of them is another flag.
func TestModelWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		arguments string
		words     string // run, or
		refused   string // what the refusal says
	}{
		{`{"name":"io.example/thing@1.2.0","alias":"t","arguments":{"--x":"--yes"},"variables":{"v":"1"},"env":{"A":"1"},"package":"npm","replace":true}`, "add|--json|--yes|--env=A=1|--arg=--x=--yes|--var=v=1|--replace|--as=t|--package=npm|io.example/thing@1.2.0", ""},
		{`{"alias":"t","command":"--yes","args":["--force","-x","--"]}`, "add|--json|--yes|t|--|--yes|--force|-x|--", ""},
		{`{"alias":"t","url":"https://example.com/mcp","sse":true,"headers":{"Authorization":"Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}`, "add|--json|--yes|--header=Authorization=Bearer ${T_AUTHORIZATION}|--sse|--url=https://example.com/mcp|t", ""},
		{`{"name":"thing","remote":true,"command":"","args":[],"env":{},"headers":null,"replace":false}`, "add|--json|--yes|--remote|thing", ""},
		{`{"name":"--force"}`, "", "not the name of a server"},
		{`{"name":"./server.json"}`, "", "not the name of a server"},
		{`{"name":"package.json"}`, "", "not the name of a server"},
		{`{"name":"/etc/passwd"}`, "", "not the name of a server"},
		{`{"name":"a/../b"}`, "", "not the name of a server"},
		{`{"name":"a b"}`, "", "not the name of a server"},
		{`{"alias":"-x","command":"npx"}`, "", "alias"},
		{`{"alias":"add","command":"npx"}`, "", "alias"},
		{`{"command":"npx"}`, "", "alias"},
		{`{"alias":"t","command":"npx","url":"https://example.com"}`, "", "want one of"},
		{`{}`, "", "want one of"},
		{`{"alias":"t","url":"file:///etc/passwd"}`, "", "does not begin with"},
		{`{"alias":"t","command":"npx","args":["a\nb"]}`, "", "line break"},
		{`{"alias":"t","command":"npx","env":{"A=B":"x"}}`, "", `the name "A=B"`},
		{`{"alias":"t","url":"https://example.com","headers":{"A: b":"x"}}`, "", "the name"},
		{`{"alias":"t","url":"https://example.com","headers":{"A":"x\r\nHost: y"}}`, "", "line break"},
		{`{"alias":"t","url":"https://example.com","env":{"A":"x"}}`, "", "env cannot be used with url"},
		{`{"alias":"t","command":"npx","headers":{"A":"x"}}`, "", "headers cannot be used with command"},
		{`{"name":"t","args":["x"]}`, "", "args cannot be used with name"},
		{`{"name":"t","yes":true}`, "", "unknown field"},
		{`{"name":7}`, "", "invalid arguments"},
	} {
		p := &program{proposal: proposal()}
		h := newHost(t, p, "2025-11-25", forms)
		if tt.refused == "" {
			_, to := h.ask("add_server", tt.arguments)
			h.answer("", "", to, yes)
			if got := strings.Join(p.ran[0], "|"); got != tt.words {
				t.Errorf("%s:\ngot  %s\nwant %s", tt.arguments, got, tt.words)
			}
		} else {
			h.call("add_server", tt.arguments, "")
			if m := h.receive(); !m.Result.IsError || !strings.Contains(m.text(), tt.refused) || p.ran != nil {
				t.Errorf("%s: got %+v, want %q", tt.arguments, m, tt.refused)
			}
		}
		h.close()
	}
}

func TestReading(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, arguments, words, want string }{
		{"search_registry", `{"query":"--all  of\nit","type":"npm","limit":3}`, "search|--json|--limit=3|--type=npm|--|--all|of|it", `{"servers":[{"name":"a/b","title":"evil red"}]}`},
		{"search_registry", `{"query":" "}`, "", "no words"},
		{"search_registry", `{"query":"x","limit":51}`, "", "limit"},
		{"search_registry", `{"query":"x","type":"--x"}`, "", "type"},
		{"show_server", `{"server":"thing"}`, "get|--json|--|thing", `"name":"thing"`},
		{"show_server", `{"server":"--reveal"}`, "", "--reveal"},
		{"check_server", `{"server":"--fix"}`, "", "--fix"},
		{"check_server", `{"server":"thing"}`, "doctor|--json|thing", "no registry\nhint: wait"},
		{"registry_info", `{"name":"-h"}`, "", "not the name"},
		{"list_servers", `{}`, "list|--json", "no registry"},
		{"serve_status", `{}`, "status|--json", "no registry"},
	} {
		p := &program{}
		h := newHost(t, p, "2026-07-28", forms)
		h.call(tt.tool, tt.arguments, "")
		m := h.receive()
		ran := ""
		if p.ran != nil {
			ran = strings.Join(p.ran[0], "|")
		}
		if !strings.Contains(m.text(), tt.want) || ran != tt.words {
			t.Errorf("%s %s: got %q, ran %q", tt.tool, tt.arguments, m.text(), ran)
		}
		h.close()
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		p := &program{added: 1}
		h := newHost(t, p, revision, forms)
		params, to := h.ask("remove_server", `{"server":"thing"}`)
		if !strings.Contains(params, "It runs or contacts: `npx thing`") {
			t.Errorf("got %s", params)
		}
		m := h.answer("remove_server", `{"server":"thing"}`, to, yes)
		if p.added != 0 || !slices.Contains(p.ran[len(p.ran)-1], "remove") || m.Result.IsError {
			t.Errorf("got %+v", m)
		}
		h.close()
	}
}

// TestEndlessLine ends a connection that sends no end of a message.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	h := newHost(t, &program{}, "2026-07-28", forms)
	go func() {
		for range 6 {
			_, _ = h.in.Write(make([]byte, 1<<20))
		}
		_ = h.in.Close()
	}()
	for h.out.Scan() {
	}
	if err := <-h.ended; err == nil || !strings.Contains(err.Error(), "4194304 bytes") {
		t.Errorf("got %v", err)
	}
}
