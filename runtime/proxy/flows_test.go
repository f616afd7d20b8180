package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/access/rules"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// transcript is what an agent was made to do.
type transcript struct {
	Labels map[string][]string
	Calls  []struct {
		Tool      string
		Arguments json.RawMessage
		Result    string
		Leaks     bool
	}
}

func readTranscript(t *testing.T, name string) (s transcript) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "flows", name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &s))
	return s
}

// servers returns those of the transcript, in an era, and counts the calls that leak.
func (s transcript) servers(version string, leaked *atomic.Int64) map[string]*runtimetest.Server {
	out := map[string]*runtimetest.Server{}
	for _, c := range s.Calls {
		server, tool, _ := strings.Cut(c.Tool, "__")
		if out[server] == nil {
			out[server] = runtimetest.New()
			out[server].Versions = []string{version}
		}
		out[server].Tools = append(out[server].Tools, runtimetest.Tool{
			Definition: json.RawMessage(`{"name":"` + tool + `","inputSchema":{"type":"object"}}`),
			Call: func(_ context.Context, call *runtimetest.Call) (json.RawMessage, error) {
				if c.Leaks {
					if !strings.Contains(string(call.Params), string(c.Arguments)) {
						return nil, fmt.Errorf("called with %s", call.Params)
					}
					leaked.Add(1)
				}
				text, err := json.Marshal(c.Result)
				return json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`), err
			},
		})
	}
	return out
}

// trifecta is the rule of docs/flows.md.
const trifecta = `{ask: "*", to: outbound, after: [untrusted, private]}`

// policiesOf returns the policies of a section access, in which LABELS stands for labels.
func policiesOf(t *testing.T, section string, labels map[string][]string) *policy.Set {
	t.Helper()
	if section == "" {
		return nil
	}
	given, err := json.Marshal(labels)
	require.NoError(t, err)
	var node yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(strings.Replace(section, "LABELS", string(given), 1)), &node))
	s, err := rules.Parse("config.yaml", node.Content[0])
	require.NoError(t, err)
	set, err := policy.Compile(s.Config(false))
	require.NoError(t, err)
	return set
}

// person answers questions: "" for one that cannot be asked.
type person string

const (
	yes     person = `{"action":"accept","content":{"allow":true}}`
	unticks person = `{"action":"accept","content":{"allow":false}}`
	accepts person = `{"action":"accept","content":{}}`
	says    person = `{"action":"accept","content":{"allow":"true"}}`
	no      person = `{"action":"decline"}`
	cancels person = `{"action":"cancel"}`
	nobody  person = ""
)

func (p person) capabilities() string {
	if p == nobody {
		return `{}`
	}
	return `{"elicitation":{"form":{}}}`
}

// agent makes calls in one conversation, and has a person answer.
type agent func(tool, arguments string) (answer string)

// agents are of each era and endpoint. asked gets the questions.
func agents(t *testing.T, p *proxy.Proxy, who person, asked func(string)) map[string]func() agent {
	t.Helper()
	web := p.NewHTTPHandler(proxy.HTTPOptions{})
	s := serveHTTP(t, web)
	t.Cleanup(func() {
		web.Close()
		s.close()
	})
	w := &july{t: t, p: p, url: s.url, hc: s.client()}
	var ids atomic.Int64
	// modern goes on with what a request asks for.
	modern := func(more string, send func(id, params string) *outcome) agent {
		return func(tool, arguments string) string {
			params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)
			for range 3 {
				r := send(fmt.Sprint(1000+ids.Add(1)), params)
				a := r.asks()
				if a.ResultType != "input_required" {
					return r.raw
				}
				answers := map[string]json.RawMessage{}
				for key, q := range a.InputRequests {
					asked(string(q.Params))
					answers[key] = json.RawMessage(who)
				}
				raw, err := json.Marshal(answers)
				if err != nil {
					t.Error(err)
				}
				// Other arguments than were asked about: they must not be used.
				params = fmt.Sprintf(`{"name":%q,"arguments":{"changed":true},"inputResponses":%s,"requestState":%q}`, tool, raw, a.RequestState)
			}
			return "asked again and again"
		}
	}
	return map[string]func() agent{
		"2025-11-25 stdio": func() agent {
			c := attach(t, p)
			c.result("initialize", fmt.Sprintf(`{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"agent","version":"1"}}`, who.capabilities()))
			c.mu.Lock()
			c.answer = func(m message) string {
				asked(string(m.Params))
				return string(who)
			}
			c.mu.Unlock()
			return func(tool, arguments string) string {
				return c.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
			}
		},
		"2025-11-25 HTTP": func() agent {
			session := newSession(t, w, who)
			return func(tool, arguments string) string { return session.call(tool, arguments, asked) }
		},
		"2026-07-28 stdio": func() agent {
			c := attach(t, p)
			return modern("", func(id, params string) *outcome {
				r := &outcome{raw: c.july(id, "tools/call", params, who.capabilities())}
				_ = json.Unmarshal([]byte(r.raw), r)
				return r
			})
		},
		"2026-07-28 HTTP": func() agent {
			more := fmt.Sprintf(`,"dev.mcpctl/flow":"f%d"`, ids.Add(1))
			return modern(more, func(id, params string) *outcome {
				return w.send(request(id, "tools/call", params, who.capabilities(), more))
			})
		},
	}
}

// session is one over HTTP, of the handshake era.
type session struct {
	*july
	id  string
	who person
}

func newSession(t *testing.T, w *july, who person) *session {
	t.Helper()
	s := &session{july: w, who: who}
	resp := s.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + who.capabilities() + `,"clientInfo":{"name":"agent","version":"1"}}}`)
	s.id = resp.Header.Get("Mcp-Session-Id")
	_ = resp.Body.Close()
	_ = s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).Body.Close()
	return s
}

func (s *session) post(body string) *http.Response {
	head := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if s.id != "" {
		head.Set("Mcp-Session-Id", s.id)
		head.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	return s.open(s.t.Context(), body, head)
}

func (s *session) call(tool, arguments string, asked func(string)) string {
	resp := s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := strings.TrimPrefix(lines.Text(), "data: ")
		var m message
		if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil {
			continue
		}
		if m.Method == "" {
			return line
		}
		asked(string(m.Params))
		_ = s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, s.who)).Body.Close()
	}
	return "no answer"
}

// asks collects questions.
type questions struct {
	mu  sync.Mutex // guards all
	all []string
}

func (q *questions) add(text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = append(q.all, text)
}

func (q *questions) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.all
	q.all = nil
	return out
}

// TestTranscripts: what others were made to do goes through without policies, and waits
// for a person with the rule of docs/flows.md.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	section := "{default: allow, labels: LABELS, rules: [" + trifecta + "]}"
	deny := "{default: allow, labels: LABELS, rules: [{deny: '*', to: outbound, after: [untrusted, private], reason: no private data goes out}]}"
	for _, file := range []string{"github-issue.json", "message-history.json"} {
		for _, backend := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
			for name, c := range map[string]struct {
				section string
				who     person
				want    string // "" for what the server says
				asked   int
			}{
				"off":               {who: yes},
				"allow":             {section: "{default: allow, labels: LABELS}", who: yes},
				"yes":               {section: section, who: yes, asked: 1},
				"no":                {section: section, who: no, want: "denied: a person has said no", asked: 1},
				"cancel":            {section: section, who: cancels, want: "denied: a person has said no", asked: 1},
				"accepted, no tick": {section: section, who: accepts, want: "denied: a person has said no", asked: 1},
				"unticked":          {section: section, who: unticks, want: "denied: a person has said no", asked: 1},
				"a text":            {section: section, who: says, want: "denied: a person has said no", asked: 1},
				"nobody":            {section: section, who: nobody, want: "denied: a person has to allow it, and nobody can be asked here: use a client with elicitation, or mcpctl on a terminal"},
				"deny":              {section: deny, who: yes, want: "denied: no private data goes out (policy rule-1)"},
			} {
				s := readTranscript(t, file)
				for handler := range agents(t, runTranscript(t, s, backend, "", new(atomic.Int64)), c.who, nil) {
					t.Run(strings.Join([]string{file, backend, name, handler}, "/"), func(t *testing.T) {
						t.Parallel()
						var leaked atomic.Int64
						var q questions
						call := agents(t, runTranscript(t, s, backend, c.section, &leaked), c.who, q.add)[handler]()
						for _, step := range s.Calls {
							got := call(step.Tool, string(step.Arguments))
							text, _ := json.Marshal(step.Result)
							if want := c.want; want == "" || !step.Leaks {
								if !strings.Contains(got, string(text)) {
									t.Errorf("%s: got %s", step.Tool, got)
								}
								continue
							}
							if !strings.Contains(got, `"code":-31009`) || !strings.Contains(got, c.want) || !strings.Contains(got, `"policy":"rule-1"`) || strings.Contains(got, string(text)) {
								t.Errorf("%s: got %s", step.Tool, got)
							}
						}
						asked := q.take()
						if len(asked) != c.asked || leaked.Load() != map[bool]int64{true: 1}[c.want == ""] {
							t.Errorf("asked %q, leaked %d times", asked, leaked.Load())
						}
						for _, text := range asked {
							if !strings.Contains(text, `"mode":"form"`) || !strings.Contains(text, "1,234") && !strings.Contains(text, "4711") || strings.Contains(text, `"url"`) {
								t.Errorf("asked %s", text)
							}
						}
					})
				}
			}
		}
	}
}

// runTranscript serves the servers of a transcript under policies.
func runTranscript(t *testing.T, s transcript, backend, section string, leaked *atomic.Int64) *proxy.Proxy {
	t.Helper()
	return newPool(s.servers(backend, leaked)).serve(t, proxy.Options{Gate: gate.New(gate.Config{Set: policiesOf(t, section, s.Labels)}), Info: runtime.Implementation{Name: "mcpctl", Version: "1"}})
}

// TestConversations: what one conversation has seen is nothing to another, parallel calls
// are each asked about, and an old conversation is forgotten.
func TestConversations(t *testing.T) {
	t.Parallel()
	s := readTranscript(t, "github-issue.json")
	leak := s.Calls[3]
	var leaked atomic.Int64
	var q questions
	p := runTranscript(t, s, runtimetest.RevNov, "{default: allow, labels: LABELS, rules: ["+trifecta+"]}", &leaked)
	for handler, begin := range agents(t, p, no, q.add) {
		if strings.HasSuffix(handler, "stdio") {
			continue // all of the process is one conversation
		}
		one, two := begin(), begin()
		for _, step := range s.Calls[:3] {
			one(step.Tool, string(step.Arguments))
		}
		two(s.Calls[1].Tool, string(s.Calls[1].Arguments))
		if got := two(leak.Tool, string(leak.Arguments)); strings.Contains(got, "error") || leaked.Swap(0) != 1 {
			t.Errorf("%s: another conversation: got %s", handler, got)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got := one(leak.Tool, string(leak.Arguments)); !strings.Contains(got, "a person has said no") {
					t.Errorf("%s: got %s", handler, got)
				}
			})
		}
		all.Wait()
		if n := len(q.take()); n != 8 || leaked.Load() != 0 {
			t.Errorf("%s: asked %d times, leaked %d times", handler, n, leaked.Load())
		}
		if got := begin()(leak.Tool, string(leak.Arguments)); strings.Contains(got, "error") || leaked.Swap(0) != 1 {
			t.Errorf("%s: a new conversation: got %s", handler, got)
		}
	}
}

// TestNobodyAnswers: after five minutes the call is denied, in both eras.
func TestNobodyAnswers(t *testing.T) {
	const delayed = "nobody has allowed it within 5 minutes; call again to be asked again"
	synctest.Test(t, func(t *testing.T) {
		s := readTranscript(t, "message-history.json")
		var leaked atomic.Int64
		p := runTranscript(t, s, runtimetest.RevNov, "{default: allow, labels: LABELS, rules: ["+trifecta+"]}", &leaked)
		c := attach(t, p)
		c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"agent","version":"1"}}`)
		for _, step := range s.Calls[:2] {
			c.result("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, step.Tool, step.Arguments))
		}
		leak := fmt.Sprintf(`{"name":%q,"arguments":%s}`, s.Calls[2].Tool, s.Calls[2].Arguments)
		began := time.Now()
		if got := c.call("tools/call", leak); !strings.Contains(got, delayed) || time.Since(began) != 5*time.Minute {
			t.Errorf("got %s after %v", got, time.Since(began))
		}
		var asked asks
		r := &outcome{raw: c.july(`"m"`, "tools/call", leak, yes.capabilities())}
		require.NoError(t, json.Unmarshal([]byte(r.raw), r))
		if asked = r.asks(); len(asked.InputRequests) != 1 {
			t.Fatalf("got %s", r.raw)
		}
		time.Sleep(6 * time.Minute)
		key := ""
		for key = range asked.InputRequests {
		}
		back := strings.TrimSuffix(leak, "}") + fmt.Sprintf(`,"inputResponses":{%q:%s},"requestState":%q}`, key, yes, asked.RequestState)
		if got := c.july(`"n"`, "tools/call", back, yes.capabilities()); !strings.Contains(got, delayed) {
			t.Errorf("got %s", got)
		}
		if leaked.Load() != 0 {
			t.Errorf("leaked %d times", leaked.Load())
		}
		c.end()
		require.NoError(t, p.Close())
	})
}
