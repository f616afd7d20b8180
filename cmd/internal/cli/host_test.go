package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// asksName is a tool that asks for a name, whatever the client has offered.
const asksName = `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`

func asking(method, params string) runtimetest.Tool {
	return tool(envTool, func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		got, err := c.Ask(ctx, method, json.RawMessage(params))
		if err != nil {
			got, _ = json.Marshal(err.Error())
		}
		b, err := json.Marshal(string(got))
		return json.RawMessage(`{"content":[{"type":"text","text":` + string(b) + `}]}`), err
	})
}

// TestQuestionsOfAPerson: a terminal answers the form of a call.
func TestQuestionsOfAPerson(t *testing.T) {
	for name, c := range map[string]struct {
		answers []any
		flags   []string
		want    outcome
	}{
		"answered":        {[]any{"Answer", "Ada"}, nil, outcome{0, `{"action":"accept","content":{"name":"Ada"}}` + "\n", ""}},
		"declined":        {[]any{"Decline"}, nil, outcome{0, `{"action":"decline"}` + "\n", ""}},
		"broken off":      {[]any{"Answer", context.Canceled}, nil, outcome{0, `{"action":"cancel"}` + "\n", ""}},
		"given all along": {nil, []string{"--elicit", `{"name":"Eve"}`}, outcome{0, `{"action":"accept","content":{"name":"Eve"}}` + "\n", ""}},
		"asked for":       {[]any{"Answer", "Ada"}, []string{"--elicit", "ask"}, outcome{0, `{"action":"accept","content":{"name":"Ada"}}` + "\n", ""}},
	} {
		b := newBench()
		b.text = true
		b.server.Tools = []runtimetest.Tool{asking("elicitation/create", asksName)}
		b.asker = &ui.Scripted{Answers: c.answers}
		if got := b.run(t, append([]string{"fs", "get-env"}, c.flags...)...); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestNobodyThere: a server that asks without the capability gets an error, and so
// does the caller.
func TestNobodyThere(t *testing.T) {
	b := newBench()
	b.text = true
	b.server.Tools = []runtimetest.Tool{asking("elicitation/create", asksName)}
	check(t, b.run(t, "fs", "get-env"), outcome{
		2, `{"action":"cancel"}` + "\n",
		"mcpctl: fs asks \"Who?\": there is no terminal to ask on\nhint: --elicit answers: defaults, decline or a JSON object of name:string\n",
	})
}

// TestWhatIsNotAnswered: sampling, roots that were not offered, invalid questions.
func TestWhatIsNotAnswered(t *testing.T) {
	for _, c := range []struct{ method, params, want string }{
		{"sampling/createMessage", `{}`, "mcpctl has no model"},
		{"roots/list", `{}`, "no roots were offered"},
		{"elicitation/create", `{"mode":"smoke"}`, "is unknown"},
		{"elicitation/create", `{"mode":"url","url":"file:///x"}`, "not the address of a page"},
		{"made/up", `{}`, "method not found"},
	} {
		b := newBench()
		b.text = true
		b.server.Tools = []runtimetest.Tool{asking(c.method, c.params)}
		if got := b.run(t, "fs", "get-env"); got.code != 0 || !strings.Contains(got.out, c.want) {
			t.Errorf("%s %s: got %+v, want %q", c.method, c.params, got, c.want)
		}
	}
}

func TestCapabilitiesOffered(t *testing.T) {
	for _, c := range []struct {
		elicit string
		roots  []string
		asker  ui.Asker
		want   string
	}{
		{"", nil, &ui.NonInteractive{}, `{}`},
		{"", nil, &ui.Scripted{}, `{"elicitation":{"form":{},"url":{}}}`},
		{"defaults", []string{"/a"}, &ui.NonInteractive{}, `{"elicitation":{"form":{}},"roots":{}}`},
		{"", []string{"/a"}, &ui.NonInteractive{}, `{"roots":{}}`},
	} {
		a := &app{environment: environment{ui: &ui.UI{}, settings: settings.Settings{Elicit: c.elicit, Roots: c.roots}}, asker: c.asker}
		if got := string(a.newHost("s").Capabilities()); got != c.want {
			t.Errorf("%q %v: got %s, want %s", c.elicit, c.roots, got, c.want)
		}
	}
}

// TestMissingCapability: what a self-contained request lacked, in terms of
// flags.
func TestMissingCapability(t *testing.T) {
	for data, want := range map[string]string{
		`{"requiredCapabilities":{"elicitation":{"form":{}}}}`: "--elicit",
		`{"requiredCapabilities":{"elicitation":{"url":{}}}}`:  "a page opened",
		`{"requiredCapabilities":{"roots":{}}}`:                "--roots DIR",
	} {
		err := explainQuestion(&runtime.Error{Code: runtime.CodeMissingCapability, Message: "no", Data: json.RawMessage(data)})
		if exitCode(err) != exitUsage || !strings.Contains(ui.HintOf(err), want) {
			t.Errorf("%s: got %v, hint %q", data, err, ui.HintOf(err))
		}
	}
	for _, data := range []string{`{"requiredCapabilities":{"sampling":{}}}`, `7`, ``} {
		err := explainQuestion(&runtime.Error{Code: runtime.CodeMissingCapability, Message: "no", Data: json.RawMessage(data)})
		if exitCode(err) != exitProtocol || ui.HintOf(err) != "" {
			t.Errorf("%s: got %v, hint %q", data, err, ui.HintOf(err))
		}
	}
}
