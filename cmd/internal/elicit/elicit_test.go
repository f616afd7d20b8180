package elicit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/cmd/internal/elicit"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// every has a field of each kind that a revision knows.
const every = `{"type":"object","properties":{
	"name":{"type":"string","title":"Your name","minLength":2},
	"mail":{"type":"string","format":"email"},
	"age":{"type":"integer","minimum":18,"default":30},
	"score":{"type":"number","maximum":1},
	"fine":{"type":"boolean","default":true},
	"kind":{"type":"string","enum":["oak","pine"],"enumNames":["Oak","Pine"],"default":"pine"},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
	"tools":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["saw","plane","rasp"]},"default":["saw"]},
	"finish":{"type":"array","items":{"anyOf":[{"const":"o","title":"Oil"},{"const":"w","title":"Wax"}]}},
	"more":{"type":"object"}},
	"required":["name","size","tools"]}`

func question(schema string) elicit.Question {
	return elicit.Question{Message: "Which\x1b[31m board?", Schema: json.RawMessage(schema)}
}

// scripted answers with a person who types.
func scripted(answers ...any) (*elicit.Answerer, *ui.Scripted, *strings.Builder) {
	s, said := &ui.Scripted{Answers: answers}, &strings.Builder{}
	return &elicit.Answerer{
		Server: "workshop", Asker: s,
		Say:  func(format string, a ...any) { fmt.Fprintf(said, format+"\n", a...) },
		Open: func(_ context.Context, page string) error { fmt.Fprintf(said, "opened %s\n", page); return nil },
	}, s, said
}

func TestForm(t *testing.T) {
	for name, c := range map[string]struct {
		answers []any
		want    string
	}{
		"everything": {
			[]any{"Answer", "Ada", "ada@example.com", "36", "0.5", "no", "Oak", "Large", []string{"rasp", "saw"}, []string{"Wax"}, `{"a":9007199254740993}`},
			`{"action":"accept","content":{"name":"Ada","mail":"ada@example.com","age":36,"score":0.5,"fine":false,"kind":"oak","size":"l","tools":["saw","rasp"],"finish":["w"],"more":{"a":9007199254740993}}}`,
		},
		"what is required": {
			[]any{"Answer", "Ada", "", "", "", "(leave", "(leave", "Small", []string{"plane"}, []string{}, ""},
			`{"action":"accept","content":{"name":"Ada","size":"s","tools":["plane"]}}`,
		},
		"no":                 {[]any{"Decline"}, `{"action":"decline"}`},
		"not now":            {[]any{"Cancel"}, `{"action":"cancel"}`},
		"Ctrl+C":             {[]any{fmt.Errorf("question: %w", context.Canceled)}, `{"action":"cancel"}`},
		"Ctrl+C in the form": {[]any{"Answer", "Ada", context.Canceled}, `{"action":"cancel"}`},
	} {
		a, s, _ := scripted(c.answers...)
		got, err := a.Answer(t.Context(), question(every))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s %v, want %s", name, got, err, c.want)
		}
		if len(s.Answers) > 0 {
			t.Errorf("%s: %v were not asked for", name, s.Answers)
		}
		if s.Asked[0] != "workshop asks: Which board?" {
			t.Errorf("%s: asked %q", name, s.Asked[0])
		}
	}
}

// TestFormChecks: what does not fit is refused where it is typed.
func TestFormChecks(t *testing.T) {
	all := []any{"Answer", "Ada", "ada@example.com", "36", "0.5", "no", "Oak", "Large", []string{"saw"}, []string{}, ""}
	for at, bad := range map[int]map[any]string{
		1:  {"A": "", "": ""},
		2:  {"nobody": "e-mail", "Ada <ada@example.com>": "e-mail"},
		3:  {"17": "18", "x": "number", "1.5": "integer"},
		4:  {"2": "1", "true": "number"},
		10: {"[1]": "object", "{": "JSON"},
	} {
		for typed, want := range bad {
			answers := append([]any{}, all...)
			answers[at] = typed
			a, _, _ := scripted(answers...)
			got, err := a.Answer(t.Context(), question(every))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: got %s %v, want an error with %q", typed, got, err, want)
			}
		}
	}
	for _, chosen := range [][]string{{}, {"saw", "plane", "rasp"}} {
		answers := append([]any{}, all...)
		answers[8] = chosen
		a, _, _ := scripted(answers...)
		if got, err := a.Answer(t.Context(), question(every)); err == nil {
			t.Errorf("%v: got %s, want an error", chosen, got)
		}
	}
	for format, typed := range map[string]map[string]bool{
		"uri":       {"https://example.com/": true, "urn:x:y": true, "example": false},
		"date":      {"2026-01-31": true, "2026-02-31": false, "31.1.2026": false},
		"date-time": {"2026-01-31T12:00:00Z": true, "2026-01-31 12:00": false},
		"other":     {"anything": true},
	} {
		for text, ok := range typed {
			a, _, _ := scripted("Answer", text)
			_, err := a.Answer(t.Context(), question(`{"type":"object","properties":{"x":{"type":"string","format":"`+format+`"}},"required":["x"]}`))
			if (err == nil) != ok {
				t.Errorf("%s %q: got %v", format, text, err)
			}
		}
	}
}

// TestLabels: options with the same title differ, optional fields are marked.
func TestLabels(t *testing.T) {
	a, s, _ := scripted("Answer", "Same (b)", "2026-01-31")
	got, err := a.Answer(t.Context(), question(`{"properties":{"a":{"oneOf":[{"const":"a","title":"Same"},{"const":"b","title":"Same"}]},"d":{"type":"string","format":"date","title":"Day"}},"required":["a"]}`))
	if err != nil || string(got) != `{"action":"accept","content":{"a":"b","d":"2026-01-31"}}` {
		t.Errorf("got %s %v", got, err)
	}
	if want := "Day (date) (optional)"; s.Asked[2] != want {
		t.Errorf("asked %q, want %q", s.Asked[2], want)
	}
}

func TestPage(t *testing.T) {
	q := elicit.Question{Mode: "url", Message: "Please sign in", URL: "https://id.example.com/connect?x=1"}
	for answer, want := range map[string][2]string{
		"Open":    {`{"action":"accept"}`, "opened https://id.example.com/connect?x=1\n"},
		"I open":  {`{"action":"accept"}`, ""},
		"Decline": {`{"action":"decline"}`, ""},
		"Cancel":  {`{"action":"cancel"}`, ""},
	} {
		a, s, said := scripted(answer)
		got, err := a.Answer(t.Context(), q)
		shown := "workshop asks you to open a page: Please sign in\n  https://id.example.com/connect?x=1\n"
		if err != nil || string(got) != want[0] || said.String() != shown+want[1] {
			t.Errorf("%s: got %s %v and said %q", answer, got, err, said)
		}
		if s.Asked[0] != "A page of id.example.com" {
			t.Errorf("asked %q", s.Asked[0])
		}
	}
	a, _, said := scripted("Open")
	a.Open = func(context.Context, string) error { return errors.New("no browser was found") }
	if got, err := a.Answer(t.Context(), q); err != nil || string(got) != `{"action":"accept"}` || !strings.Contains(said.String(), "open it yourself: no browser") {
		t.Errorf("without a browser: got %s %v and said %q", got, err, said)
	}
}

func TestQuestionsThatAreNone(t *testing.T) {
	for _, params := range []string{
		`[]`, `{"mode":"form?"}`, `{"mode":"url"}`, `{"mode":"url","url":"file:///etc/passwd"}`, `{"mode":"url","url":"javascript:alert(1)"}`, `{"mode":"url","url":"x"}`,
	} {
		if q, err := elicit.ParseQuestion(json.RawMessage(params)); err == nil {
			t.Errorf("%s: got %+v", params, q)
		}
	}
	for _, bad := range []string{`{"properties":{"a":7}}`, `7`} {
		a, _, _ := scripted("Answer")
		var fault *schema.Error
		if got, err := a.Answer(t.Context(), question(bad)); !errors.As(err, &fault) {
			t.Errorf("%s: got %s %v, want the schema's fault", bad, got, err)
		}
	}
}

// TestPolicies: what answers without a person.
func TestPolicies(t *testing.T) {
	const all = `{"properties":{"a":{"type":"string","default":"x"},"n":{"type":"integer","default":2},"o":{"type":"string"}}}`
	const needed = `{"properties":{"a":{"type":"string"}},"required":["a"]}`
	const page = `{"mode":"url","message":"m","url":"https://example.com/"}`
	for _, c := range []struct{ policy, schema, want, why string }{
		{"decline", all, `{"action":"decline"}`, ""},
		{"defaults", all, `{"action":"accept","content":{"a":"x","n":2}}`, ""},
		{"defaults", needed, `{"action":"cancel"}`, "the defaults do not answer it: at /a: required"},
		{"defaults", `{}`, `{"action":"accept","content":{}}`, ""},
		{`{"n":9007199254740993,"z":1}`, all, `{"action":"accept","content":{"a":"x","n":9007199254740993}}`, ""},
		{` {"o":""}`, all, `{"action":"accept","content":{"a":"x","n":2,"o":""}}`, ""},
		{`{"a":5}`, needed, `{"action":"cancel"}`, "the answer of --elicit does not fit: at /a: want string"},
		{`{}`, needed, `{"action":"cancel"}`, "does not fit: at /a: required"},
		{"", needed, `{"action":"cancel"}`, "no terminal to ask on"},
		{"ask", needed, `{"action":"cancel"}`, "no terminal to ask on"},
		{"decline", page, `{"action":"decline"}`, ""},
		{"defaults", page, `{"action":"decline"}`, "only a person can decide to open https://example.com/"},
		{"", page, `{"action":"cancel"}`, "no terminal"},
	} {
		p, err := elicit.ParsePolicy(c.policy)
		require.NoError(t, err)
		q := question(c.schema)
		if c.schema == page {
			if q, err = elicit.ParseQuestion(json.RawMessage(page)); err != nil {
				t.Fatal(err)
			}
		}
		a := &elicit.Answerer{Policy: p, Server: "s", Asker: &ui.NonInteractive{}}
		got, err := a.Answer(t.Context(), q)
		var none *elicit.UnansweredError
		switch {
		case string(got) != c.want:
			t.Errorf("%q %s: got %s %v, want %s", c.policy, c.schema, got, err, c.want)
		case c.why == "" && err != nil, c.why != "" && (!errors.As(err, &none) || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%q %s: got %v, want %q", c.policy, c.schema, err, c.why)
		case none != nil && (none.ExitKind() != "usage" || !strings.Contains(none.Hint(), "--elicit")):
			t.Errorf("%q: kind %s, hint %s", c.policy, none.ExitKind(), none.Hint())
		}
	}
	for _, bad := range []string{"yes", "[1]", `{"a"`, `"x"`, " "} {
		if p, err := elicit.ParsePolicy(bad); err == nil {
			t.Errorf("%q: got %+v", bad, p)
		}
	}
}

// TestCapability: nothing is offered that cannot be answered.
func TestCapability(t *testing.T) {
	for _, c := range []struct {
		policy   string
		terminal bool
		want     string
	}{
		{"", false, ``},
		{"", true, `{"form":{},"url":{}}`},
		{"ask", true, `{"form":{},"url":{}}`},
		{"decline", false, `{"form":{},"url":{}}`},
		{"defaults", true, `{"form":{}}`},
		{`{}`, false, `{"form":{}}`},
	} {
		p, err := elicit.ParsePolicy(c.policy)
		require.NoError(t, err)
		if got := p.Capability(c.terminal); string(got) != c.want {
			t.Errorf("%q, terminal %t: got %s, want %s", c.policy, c.terminal, got, c.want)
		}
	}
}

// TestAnswerIsCalledOff: the end of the call is not an answer.
func TestAnswerIsCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a, _, _ := scripted(ctx.Err())
	if got, err := a.Answer(ctx, question(every)); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("got %s %v", got, err)
	}
}
