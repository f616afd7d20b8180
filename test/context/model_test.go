package context_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// maxAnswer bounds what is read of an endpoint's answer.
const maxAnswer = 16 << 20

// model is a real one: an endpoint that completes chats, in the form of OpenAI's.
type model struct{ url, name, key string }

// configured returns the model of the environment, nil for none.
func configured() *model {
	m := &model{os.Getenv("MCPCTL_BENCH_MODEL_URL"), os.Getenv("MCPCTL_BENCH_MODEL"), os.Getenv("MCPCTL_BENCH_MODEL_KEY")}
	if m.url == "" || m.name == "" {
		return nil
	}
	return m
}

// message is one of a chat.
type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	Of      string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// chat is what an endpoint is sent, completion what it answers.
type chat struct {
	Model    string           `json:"model"`
	Messages []message        `json:"messages"`
	Tools    []map[string]any `json:"tools"`
}

type completion struct {
	Choices []struct{ Message message }
	Usage   struct {
		Read    int `json:"prompt_tokens"`
		Said    int `json:"completion_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

// complete returns how a chat goes on.
func (m *model) complete(t *testing.T, messages []message, tools []map[string]any) (*completion, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url, bytes.NewReader(marshal(t, chat{m.name, messages, tools})))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if m.key != "" {
		req.Header.Set("Authorization", "Bearer "+m.key)
	}
	client := http.Client{Timeout: time.Until(wait.Deadline(t))}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %.200s", resp.Status, body)
	}
	var c completion
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, err
	}
	if len(c.Choices) == 0 {
		return nil, fmt.Errorf("no choice: %.200s", body)
	}
	return &c, nil
}

// spent is what a task has cost the model.
type spent struct {
	done                             bool // each query had a tool that answers it
	read, cached, said, turns, calls int
	err                              error
}

// do has the model do a task with the tools that an endpoint lists.
func (m *model) do(t *testing.T, f *gateway, tools []map[string]any, queries []query) (s spent) {
	t.Helper()
	var text strings.Builder
	text.WriteString("Use tools to do all of this. Make up arguments that you are not told. Say done at the end.\n")
	for _, q := range queries {
		fmt.Fprintf(&text, "- %s\n", q.Query)
	}
	messages := []message{{Role: "user", Content: text.String()}}
	called := map[string]bool{}
	for s.turns < maxTurns {
		c, err := m.complete(t, messages, tools)
		if s.err = err; err != nil {
			return s
		}
		s.turns++
		s.read += c.Usage.Read
		s.cached += c.Usage.Details.Cached
		s.said += c.Usage.Said
		says := c.Choices[0].Message
		says.Role = "assistant"
		messages = append(messages, says)
		if len(says.Calls) == 0 {
			break
		}
		for _, call := range says.Calls {
			s.calls++
			result, failed := f.attempt(call.Function.Name, json.RawMessage(cmp.Or(call.Function.Arguments, "{}")))
			if key, _, _ := strings.Cut(result, "\n"); !failed {
				called[key] = true
			}
			messages = append(messages, message{Role: "tool", Content: result, Of: call.ID})
		}
	}
	s.done = !slices.ContainsFunc(queries, func(q query) bool {
		return !slices.ContainsFunc(q.Accept, func(key string) bool { return called[key] })
	})
	return s
}

// offered returns the tools of an endpoint as a chat has them.
func offered(t *testing.T, f *gateway) (all []map[string]any) {
	t.Helper()
	for _, definition := range f.list() {
		var d struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
		require.NoError(t, json.Unmarshal(definition, &d))
		all = append(all, map[string]any{"type": "function", "function": map[string]any{"name": d.Name, "description": d.Description, "parameters": d.InputSchema}})
	}
	return all
}

// pairs has the model do n tasks with the whole list, and the same in search mode.
func (m *model) pairs(t *testing.T, program string, c *corpus, n int) string {
	t.Helper()
	env := behind(t, c)
	var page strings.Builder
	fmt.Fprintf(&page, "By the model %s:\n\n| mode | done of %d | tokens | of them cached | said | turns | calls |\n|---|---:|---:|---:|---:|---:|---:|\n", m.name, n)
	of := map[string][]spent{}
	for _, mode := range []string{"all", "search"} {
		f := serve(t, program, env, mode)
		tools := offered(t, f)
		var sum spent
		at, done := 0, 0
		for i := range n {
			var queries []query
			for range 1 + i%3 {
				queries = append(queries, c.queries[at%len(c.queries)])
				at++
			}
			s := m.do(t, f, tools, queries)
			if s.err != nil {
				t.Logf("%s, task %d: %v", mode, i, s.err)
			}
			if s.done {
				done++
			}
			of[mode] = append(of[mode], s)
			sum.read, sum.cached, sum.said, sum.turns, sum.calls = sum.read+s.read, sum.cached+s.cached, sum.said+s.said, sum.turns+s.turns, sum.calls+s.calls
		}
		fmt.Fprintf(&page, "| %s | %d | %d | %d | %d | %d | %d |\n", mode, done, sum.read, sum.cached, sum.said, sum.turns, sum.calls)
	}
	var ratios []float64
	for i, s := range of["all"] {
		if s.done && of["search"][i].done {
			ratios = append(ratios, float64(of["search"][i].read)/float64(s.read))
		}
	}
	if len(ratios) == 0 {
		return page.String() + "\nNo task was done both ways.\n\n"
	}
	slices.Sort(ratios)
	fmt.Fprintf(&page, "\n%d tasks were done both ways. Search took %.2f of the tokens (median of the pairs).\n\n", len(ratios), ratios[len(ratios)/2])
	return page.String()
}

// TestModel has a scripted endpoint for the model: it calls the first tool of the list that it
// can, or searches and calls what it has found. It cannot do lists of more than 400 tools.
func TestModel(t *testing.T) {
	program, err := wire.Build(t.Context(), filepath.Join(t.TempDir(), "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl")
	require.NoError(t, err)
	c := ours(t)
	tool := c.tools[slices.IndexFunc(c.tools, func(x tool) bool { return x.key() == c.queries[0].Accept[0] })]
	name := tool.alias() + "__" + tool.name
	most := len(c.tools)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked chat
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Model != "scripted" || r.Header.Get("Authorization") != "Bearer a-key" || len(asked.Tools) > most {
			http.Error(w, "not taken", http.StatusBadRequest)
			return
		}
		answer := message{Content: "done"}
		say := func(tool string, arguments any) {
			call := toolCall{ID: "c", Type: "function"}
			call.Function.Name, call.Function.Arguments = tool, string(marshal(t, arguments))
			answer = message{Calls: []toolCall{call}}
		}
		last := asked.Messages[len(asked.Messages)-1]
		switch searches := len(asked.Tools) < 10; {
		case len(asked.Messages) == 1 && searches:
			say("search_tools", map[string]any{"queries": []string{c.queries[0].Query}})
		case len(asked.Messages) == 1:
			say(name, map[string]any{})
		case strings.HasPrefix(last.Content, "unknown"), len(asked.Messages) > 4:
		case searches && len(asked.Messages) == 3:
			say("call_tool", map[string]any{"name": name, "arguments": arguments(tool.definition)})
		case !searches && len(asked.Messages) == 3: // its arguments were wrong
			say(name, arguments(tool.definition))
		}
		_, _ = w.Write(marshal(t, map[string]any{
			"choices": []any{map[string]any{"message": answer}},
			"usage":   map[string]any{"prompt_tokens": 10 * len(asked.Tools), "completion_tokens": 7, "prompt_tokens_details": map[string]int{"cached_tokens": 3}},
		}))
	}))
	t.Cleanup(web.Close)
	m := &model{web.URL, "scripted", "a-key"}
	for tools, want := range map[int]string{len(c.tools): "1 tasks were done both ways. Search took 0.01 of the tokens", 100: "No task was done both ways."} {
		most = tools
		if page := m.pairs(t, program, c, 1); !strings.Contains(page, want) {
			t.Errorf("with at most %d tools: got %s, want %s", tools, page, want)
		}
	}
}
