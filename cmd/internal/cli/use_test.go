package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// outcome is what a run of mcpctl left.
type outcome struct {
	code        int
	out, errOut string
}

// bench runs commands against a server in memory, which is configured as fs.
type bench struct {
	server *runtimetest.Server
	info   runtime.ServerInfo
	stdin  io.Reader
	url    string
	text   bool     // as -o text
	json   bool     // as --json
	tty    bool     // output goes to a terminal
	asker  ui.Asker // who answers; nil is the real one
	closed bool
	dialed string
}

func (b *bench) run(t *testing.T, words ...string) outcome {
	t.Helper()
	home := t.TempDir()
	servers := filepath.Join(home, "servers.json")
	if err := os.WriteFile(servers, []byte(`{"mcpServers":{"fs":{"command":"fs"},"github":{"url":"http://127.0.0.1:1/"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	in := b.stdin
	if in == nil {
		null, err := os.Open(os.DevNull)
		require.NoError(t, err)
		defer null.Close()
		in = null
	}
	a := &app{environment: environment{
		ui:     ui.New(in, &out, &errOut),
		getenv: func(k string) string { return map[string]string{"MCPCTL_CONFIG": servers, "MCPCTL_HOME": home}[k] },
		log:    slog.New(slog.DiscardHandler),
	}, asker: b.asker}
	a.ui.OutTTY, a.ui.ErrTTY = b.tty, b.tty
	if b.url != "" {
		words = append([]string{"--url", b.url}, words...)
	}
	if b.text {
		words = append([]string{"-o", "text"}, words...)
	}
	if b.json {
		words = append([]string{"--json"}, words...)
	}
	a.dial = func(_ context.Context, server string, h *host) (*runtime.Client, error) {
		b.dialed = server
		if b.server == nil {
			return nil, &runtime.ConnectError{Target: server, Err: errors.New("refused"), Remedy: "start it"}
		}
		info := b.info
		if info.Capabilities == nil {
			info.Capabilities = json.RawMessage(`{"tools":{},"prompts":{},"resources":{}}`)
		}
		return runtime.NewClient(&watched{Transport: b.server.Connect(h), b: b}, runtime.ClientOptions{Info: info, Handler: h}), nil
	}
	code := a.run(t.Context(), words)
	return outcome{code, out.String(), errOut.String()}
}

// noEnvironment has nothing but a home of its own.
func noEnvironment(t *testing.T) func(string) string {
	home := t.TempDir()
	return func(k string) string {
		if k == "MCPCTL_HOME" {
			return home
		}
		return ""
	}
}

// watched notes that a connection was closed.
type watched struct {
	runtime.Transport
	b *bench
}

func (w *watched) Close() error {
	w.b.closed = true
	return w.Transport.Close()
}

func tool(definition string, call runtimetest.Func) runtimetest.Tool {
	return runtimetest.Tool{Definition: json.RawMessage(definition), Call: call}
}

func fixed(result string) runtimetest.Func {
	return func(context.Context, *runtimetest.Call) (json.RawMessage, error) { return json.RawMessage(result), nil }
}

// reflected answers with the arguments' bytes as text.
func reflected(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
	b, err := json.Marshal(string(c.Arguments))
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(b) + `}]}`), err
}

const (
	sumTool = `{"name":"get-sum","title":"Sum","description":"Adds.\nTwo numbers.","inputSchema":{"type":"object","properties":{"b":{"type":"number","description":"second"},"a":{"type":"number","default":1.0},"note":{"type":"string"}},"required":["b","a"]},"annotations":{"readOnlyHint":true,"idempotentHint":true},"x-vendor":{"id":9007199254740993}}`
	setTool = `{"name":"set_color","description":"\u001b[31mSets\u001b[0m a colour","inputSchema":{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"}},"required":["oldText"]}}},"required":["color","edits"]},"annotations":{"destructiveHint":true},"outputSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}`
	envTool = `{"name":"get-env","inputSchema":{"type":"object","properties":{}}}`
)

func newBench() *bench {
	return &bench{server: &runtimetest.Server{Tools: []runtimetest.Tool{
		tool(sumTool, reflected),
		tool(setTool, fixed(`{"content":[],"structuredContent":{"ok":"yes"}}`)),
		tool(envTool, reflected),
		tool(`{"name":"exact","inputSchema":{"type":"object"}}`, fixed(runtimetest.ExactResult)),
		tool(`{"name":"fail","inputSchema":{"type":"object"}}`, fixed(`{"content":[{"type":"text","text":"no luck"}],"isError":true}`)),
		tool(`{"name":"refuse","inputSchema":{"type":"object"}}`, func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return nil, &runtime.Error{Code: -32000, Message: "refused"}
		}),
		tool(`{"name":"odd","inputSchema":{"type":"strnig"}}`, reflected),
	}}}
}

func check(t *testing.T, got, want outcome) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestToolsJSON(t *testing.T) {
	b := newBench()
	var entries []string
	for _, tool := range b.server.Tools {
		entries = append(entries, string(tool.Definition))
	}
	want := outcome{0, `{"tools":[` + strings.Join(entries, ",") + "]}\n", ""}
	got := b.run(t, "tools", "fs", "--json")
	check(t, got, want)
	check(t, b.run(t, "tools", "fs", "--schema"), want)
	if !b.closed || b.dialed != "fs" {
		t.Errorf("closed %v, dialed %q", b.closed, b.dialed)
	}
	b.server.PageSize = 2
	check(t, b.run(t, "fs", "-o", "json"), want)
}

// TestToolsShort: a list in a pipe that no form was asked for has what one needs to choose a tool
// and to call it; -o json-compact asks for that.
func TestToolsShort(t *testing.T) {
	b := newBench()
	b.server.Tools = []runtimetest.Tool{
		tool(`{"name":"read","title":"Read","description":"Reads a file, e.g. a note. Long\ntext.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path"]},"annotations":{"readOnlyHint":true},"x":1}`, reflected),
		tool(`{"name":"bare","inputSchema":{"type":"object"}}`, reflected),
	}
	list := `{"tools":[{"name":"read","title":"Read","description":"Reads a file, e.g. a note.","signature":"read(path:string, n?:integer)","hints":["read-only"]},{"name":"bare","signature":"bare()"}]}` + "\n"
	check(t, b.run(t, "tools", "fs"), outcome{0, list, "note: the list is short; --schema or --json has the definitions, -o json-compact drops this note\n"})
	check(t, b.run(t, "fs", "-q"), outcome{0, list, ""})
	check(t, b.run(t, "fs", "-o", "json-compact"), outcome{0, list, ""})
	for text, want := range map[string]string{
		"": "", "One": "One", "One. Two.": "One.", "One.": "One.", "v1.2 is out. Next": "v1.2 is out.", "Is it? Yes.": "Is it?", "a i.e. b. c": "a i.e. b.", "\n first\nsecond": "first",
	} {
		if got := ui.FirstSentence(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestToolsTable(t *testing.T) {
	b := newBench()
	b.server.Tools = append(b.server.Tools[:3], tool("{\"name\":\"late\",\"description\":\"\\n\\n  Begins late.\\nAnd goes on.\",\"inputSchema\":{\"type\":\"object\"}}", reflected))
	b.text = true
	check(t, b.run(t, "fs"), outcome{0, strings.Join([]string{
		`TOOL                                            HINTS  DESCRIPTION`,
		`get-sum(b:number, a:number, note?:string)       r=     Adds.`,
		`set_color(color:"red"|"green", edits:object[])  !      Sets a colour`,
		`get-env()`,
		`late()                                                 Begins late.`,
		``,
	}, "\n"), "hints: r read-only, ! destructive, = idempotent\n"})
}

// TestDescribeEnum: all values of an enumeration are shown, however many.
func TestDescribeEnum(t *testing.T) {
	const values = `"a1","a2","a3","a4","a5","a6","a7","a8","a9","a10"`
	b := newBench()
	b.server.Tools = []runtimetest.Tool{tool(`{"name":"pick","inputSchema":{"type":"object","properties":{"one":{"type":"string","enum":[`+values+`]},"some":{"type":"array","items":{"enum":[`+values+`]}},"few":{"enum":["x","y"]}}}}`, reflected)}
	b.text = true
	got := b.run(t, "describe", "fs", "pick").out
	all := "      one of: " + strings.ReplaceAll(values, ",", ", ") + "\n"
	if want := "ARGUMENTS\n  one  string\n" + all + "  some  string[]\n" + all + "  few  \"x\"|\"y\"\n"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDescribe(t *testing.T) {
	b := newBench()
	check(t, b.run(t, "describe", "fs", "get-sum"), outcome{0, sumTool + "\n", ""})
	b.text = true
	check(t, b.run(t, "describe", "fs", "get-sum"), outcome{0, `get-sum - Sum  [read-only, idempotent]

Adds.
Two numbers.

ARGUMENTS
  b  number, required
      second
  a  number, required, default 1.0
  note  string

EXAMPLE
  mcpctl fs get-sum b=1 a:=1.0
`, ""})
	check(t, b.run(t, "describe", "fs", "set_color"), outcome{0, `set_color  [destructive]

Sets a colour

ARGUMENTS
  color  "red"|"green", required
  edits  object[], required
  edits[].oldText  string, required

STRUCTURED RESULT
  ok  boolean, required

EXAMPLE
  mcpctl fs set_color color=red 'edits[0].oldText=TEXT'
`, ""})
	check(t, b.run(t, "describe", "fs", "get-sun"), outcome{2, "", "mcpctl: fs has no tool get-sun\nhint: did you mean get-sum? see mcpctl tools fs\n"})
}

// Every example that describe prints is a call that passes its own checks.
func TestExamplesWork(t *testing.T) {
	b := newBench()
	b.text = true
	for _, name := range []string{"get-sum", "set_color", "get-env"} {
		page := b.run(t, "describe", "fs", name).out
		_, example, _ := strings.Cut(page, "EXAMPLE\n  mcpctl ")
		words := strings.Fields(strings.ReplaceAll(example, "'", ""))
		if got := b.run(t, words...); got.code != 0 {
			t.Errorf("%s: %+v", example, got)
		}
	}
}

func TestCall(t *testing.T) {
	text := func(args string) string {
		s, _ := json.Marshal(args)
		return `{"content":[{"type":"text","text":` + string(s) + "}]}\n"
	}
	tests := []struct {
		name  string
		words []string
		want  outcome
	}{
		{"pairs", []string{"call", "fs", "get-sum", "a=9007199254740993", "b=-5"}, outcome{0, text(`{"a":9007199254740993,"b":-5}`), ""}},
		{"short form", []string{"fs", "get-sum", "a=1.0", "b=2"}, outcome{0, text(`{"a":1.0,"b":2}`), ""}},
		{"whole object", []string{"fs", "get-sum", `{"a": 1e2, "b":2}`}, outcome{0, text(`{"a": 1e2, "b":2}`), ""}},
		{"flag after the words", []string{"fs", "get-sum", "a=x", "b=2", "--no-validate"}, outcome{0, text(`{"a":"x","b":2}`), ""}},
		{"flag between", []string{"fs", "--no-validate", "get-sum", "a=x"}, outcome{0, text(`{"a":"x"}`), ""}},
		{"words after a double dash", []string{"call", "--no-validate", "fs", "get-sum", "--", "--no-validate=1"}, outcome{0, text(`{"--no-validate":"1"}`), ""}},
		{"exact bytes", []string{"fs", "exact"}, outcome{0, runtimetest.ExactResult + "\n", ""}},
		{"tool error", []string{"fs", "fail"}, outcome{3, `{"content":[{"type":"text","text":"no luck"}],"isError":true}` + "\n", ""}},
		{"protocol error", []string{"fs", "refuse"}, outcome{8, "", "mcpctl: fs: refused (-32000)\n"}},
		{"unknown tool", []string{"fs", "getsum"}, outcome{2, "", "mcpctl: fs has no tool getsum\nhint: did you mean get-sum? see mcpctl tools fs\n"}},
		{"wrong value", []string{"fs", "get-sum", "a=x", "b=1"}, outcome{2, "", "mcpctl: at /a: want number, got \"x\"\nhint: get-sum(b:number, a:number, note?:string); see mcpctl describe fs get-sum\n"}},
		{"several faults", []string{"fs", "get-sum", "nte=x", "a=1"}, outcome{2, "", "mcpctl: at /nte: unknown argument; did you mean note?\nhint: get-sum(b:number, a:number, note?:string); see mcpctl describe fs get-sum\n"}},
		{"missing", []string{"fs", "get-sum", `{"note":1}`}, outcome{2, "", "mcpctl: 3 arguments do not fit:\n  at /a: required, but missing\n  at /b: required, but missing\n  at /note: want string, got number\nhint: get-sum(b:number, a:number, note?:string); see mcpctl describe fs get-sum\n"}},
		{"no arguments wanted", []string{"fs", "get-env", "x=1"}, outcome{2, "", "mcpctl: at /x: unknown argument; there are none\nhint: get-env(); see mcpctl describe fs get-env\n"}},
		{"like flags", []string{"fs", "get-sum", "--note=x", "--a", "1", "--json", "--b=2"}, outcome{0, text(`{"note":"x","a":1,"b":2}`), ""}},
		{"unknown flag", []string{"fs", "get-sum", "--nope"}, outcome{2, "", "mcpctl: --nope is neither an argument of the tool nor a flag of mcpctl\nhint: write note=VALUE\n"}},
		{"misspelt flag", []string{"fs", "get-sum", "--no-validat"}, outcome{2, "", "mcpctl: --no-validat is neither an argument of the tool nor a flag of mcpctl\nhint: did you mean --no-validate?\n"}},
		{"no value", []string{"fs", "get-sum", "--note"}, outcome{2, "", "mcpctl: --note has no value\nhint: write note=VALUE\n"}},
		{"colon", []string{"fs", "get-sum", "note:x"}, outcome{2, "", "mcpctl: argument \"note:x\": want name=text or name:=json\nhint: write note=x\n"}},
		{"a function", []string{"fs", `get-sum(a: 1, note: "x y")`}, outcome{2, "", "mcpctl: fs has no tool get-sum(a: 1, note: \"x y\")\nhint: write mcpctl call fs get-sum a=1 'note=x y'\n"}},
		{"no pair", []string{"fs", "get-sum", "1"}, outcome{2, "", "mcpctl: argument \"1\": want name=text or name:=json\n"}},
		{"missing file", []string{"fs", "get-sum", "--args-file", "/nonexistent"}, outcome{2, "", "mcpctl: read /nonexistent: no such file or directory\n"}},
		{"no tool", []string{"call", "fs"}, outcome{2, "", "mcpctl: missing argument: mcpctl call SERVER TOOL [ARGS...]\nhint: mcpctl call --help\n"}},
		{"broken schema", []string{"fs", "odd", "--no-validate", "a=1"}, outcome{0, text(`{"a":"1"}`), ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench()
			check(t, b.run(t, tt.words...), tt.want)
		})
	}
	t.Run("unusable schema", func(t *testing.T) {
		got := newBench().run(t, "fs", "odd", "a=1")
		if got.code != 8 || !strings.Contains(got.errOut, "the input schema of odd cannot be used") || !strings.Contains(got.errOut, "--no-validate") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("as text", func(t *testing.T) {
		b := newBench()
		b.text = true
		check(t, b.run(t, "fs", "fail"), outcome{3, "no luck\n", ""})
		check(t, b.run(t, "fs", "set_color", "color=red", "edits:=[]"), outcome{
			0, "{\n  \"ok\": \"yes\"\n}\n", "note: the structured result does not fit the tool's output schema: at /ok: want boolean, got string\n",
		})
	})
	t.Run("error object", func(t *testing.T) {
		b := newBench()
		b.json = true
		check(t, b.run(t, "fs", "getsum"), outcome{2, "", `{"error":{"kind":"usage","message":"fs has no tool getsum","hint":"did you mean get-sum? see mcpctl tools fs","server":"fs"}}` + "\n"})
	})
	t.Run("no connection", func(t *testing.T) {
		b := &bench{json: true}
		check(t, b.run(t, "fs", "x"), outcome{6, "", `{"error":{"kind":"connect","message":"connect fs: refused","hint":"start it","server":"fs"}}` + "\n"})
	})
}

// TestColour: errors, hints, marks and JSON are coloured, unless nobody wants it.
func TestColour(t *testing.T) {
	b := newBench()
	b.tty = true
	check(t, b.run(t, "--color", "always", "fs", "getsum"), outcome{2, "", "\x1b[31mmcpctl:\x1b[0m fs has no tool getsum\n\x1b[36mhint:\x1b[0m did you mean get-sum? see mcpctl tools fs\n"})
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"fs"}, "\x1b[31m!\x1b[0m"},
		{[]string{"describe", "fs", "set_color"}, "\x1b[31m[destructive]\x1b[0m"},
		{[]string{"fs", "--json"}, "{\n  \x1b[36m\"tools\"\x1b[0m: ["},
		{[]string{"fs", "set_color", "color=red", "edits:=[]"}, "\x1b[32m\"yes\"\x1b[0m"},
	} {
		if got := b.run(t, append([]string{"--color", "always"}, tt.words...)...); !strings.Contains(got.out, tt.want) {
			t.Errorf("%q: no %q in %q", tt.words, tt.want, got.out)
		}
		if got := b.run(t, append([]string{"--color", "never"}, tt.words...)...); strings.Contains(got.out+got.errOut, "\x1b") {
			t.Errorf("%q: colour in %q", tt.words, got.out)
		}
	}
}

func TestURL(t *testing.T) {
	b := newBench()
	b.url = "http://127.0.0.1:1/mcp"
	check(t, b.run(t, "call", "get-env"), outcome{0, `{"content":[{"type":"text","text":"{}"}]}` + "\n", ""})
	if b.dialed != "" {
		t.Errorf("dialed the configured server %q", b.dialed)
	}
	check(t, b.run(t, "call", "get-sum", "--x=1"), outcome{2, "", "mcpctl: --x is neither an argument of the tool nor a flag of mcpctl\n" +
		"hint: arguments are written b=VALUE a=VALUE note=VALUE\n"})
	check(t, b.run(t, "get-env"), outcome{0, `{"content":[{"type":"text","text":"{}"}]}` + "\n", ""})
	check(t, b.run(t, "get-enw"), outcome{2, "", "mcpctl: http://127.0.0.1:1/mcp has no tool get-enw\nhint: did you mean get-env? see mcpctl --url http://127.0.0.1:1/mcp tools\n"})
	if got := b.run(t); got.code != 0 || !strings.HasPrefix(got.out, `{"tools":[`) {
		t.Errorf("got %+v", got)
	}
	check(t, b.run(t, "tools", "fs"), outcome{2, "", "mcpctl: unexpected argument \"fs\": mcpctl tools [SERVER...]\nhint: mcpctl tools --help\n"})
	b.text = true
	if got := b.run(t, "describe", "get-sum"); !strings.HasSuffix(got.out, "\n  mcpctl --url http://127.0.0.1:1/mcp call get-sum b=1 a:=1.0\n") {
		t.Errorf("got %+v", got)
	}
	b.text, b.json, b.url = false, true, "http://me:secret@127.0.0.1:1/mcp?key=secret"
	got := b.run(t, "call", "get-sum", "x=1")
	if !strings.Contains(got.errOut, "mcpctl --url URL describe get-sum") || strings.Contains(got.errOut, "secret") {
		t.Errorf("got %+v, want a hint and no secret", got)
	}
}

// The clock is the connection's: the words only choose it.
func TestCallTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &app{environment: environment{log: slog.New(slog.DiscardHandler), ui: ui.New(nil, io.Discard, io.Discard)}}
		a.dial = func(context.Context, string, *host) (*runtime.Client, error) {
			return runtime.NewClient(silent{}, runtime.ClientOptions{Timeout: 5 * time.Second}), nil
		}
		start := time.Now()
		err := a.with(t.Context(), []string{"fs", "x"}, func(s *session, words []string) error {
			return (&callCommand{session: s}).run(t.Context(), words[0], nil)
		})
		if exitCode(err) != 7 || time.Since(start) != 5*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

// silent lists one tool and never answers its call.
type silent struct{ runtime.Transport }

func (silent) Call(ctx context.Context, r *runtime.Request) (json.RawMessage, error) {
	if r.Method == "tools/list" {
		return json.RawMessage(`{"tools":[{"name":"x","inputSchema":{}}]}`), nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) Close() error { return nil }

func TestCallReadsStdin(t *testing.T) {
	b := newBench()
	b.stdin = strings.NewReader(`{"a":1.50,"b":2}`)
	want := `{"content":[{"type":"text","text":"{\"a\":1.50,\"b\":2}"}]}` + "\n"
	check(t, b.run(t, "fs", "get-sum"), outcome{0, want, ""})
	b.stdin = strings.NewReader(`{"a":1.50}`)
	check(t, b.run(t, "fs", "get-sum", "-", "b=2"), outcome{0, want, ""})
	// A pipe that never ends must not hold up a tool that takes nothing.
	r, w := io.Pipe()
	defer w.Close()
	b.stdin = r
	check(t, b.run(t, "fs", "get-env"), outcome{0, `{"content":[{"type":"text","text":"{}"}]}` + "\n", ""})
}

func TestCallInterrupted(t *testing.T) {
	b := newBench()
	ctx, cancel := context.WithCancel(t.Context())
	b.server.Tools = []runtimetest.Tool{tool(envTool, func(call context.Context, _ *runtimetest.Call) (json.RawMessage, error) {
		cancel()
		<-call.Done()
		return nil, call.Err()
	})}
	var out, errOut bytes.Buffer
	a := &app{environment: environment{ui: ui.New(strings.NewReader(""), &out, &errOut), getenv: noEnvironment(t), log: slog.New(slog.DiscardHandler)}}
	a.dial = func(context.Context, string, *host) (*runtime.Client, error) {
		return runtime.NewClient(&watched{Transport: b.server.Connect(nil), b: b}, runtime.ClientOptions{}), nil
	}
	if code := a.run(ctx, []string{"call", "fs", "get-env"}); code != 130 || !b.closed || errOut.String() != "mcpctl: interrupted\n" {
		t.Errorf("got %d, closed %v, %q", code, b.closed, errOut.String())
	}
}

func TestProgressLine(t *testing.T) {
	b := newBench()
	b.server.Tools = []runtimetest.Tool{tool(envTool, func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		if c.Token == nil {
			return nil, errors.New("no progress token")
		}
		c.Progress(1, 2, "half")
		return json.RawMessage(`{"content":[]}`), nil
	})}
	check(t, b.run(t, "fs", "get-env"), outcome{0, `{"content":[]}` + "\n", ""})
}

func TestResources(t *testing.T) {
	b := &bench{server: runtimetest.New()}
	uris := []string{}
	for _, r := range b.server.Resources {
		var v runtime.Resource
		require.NoError(t, json.Unmarshal(r.Definition, &v))
		uris = append(uris, v.URI)
	}
	for i, r := range b.server.Resources {
		check(t, b.run(t, "read", "fs", uris[i]), outcome{0, string(r.Result) + "\n", ""})
		var want struct{ Contents []runtime.ResourceContents }
		require.NoError(t, json.Unmarshal(r.Result, &want))
		data := want.Contents[0].Blob
		if data == nil {
			data = []byte(want.Contents[0].Text)
		}
		check(t, b.run(t, "read", "fs", uris[i], "-O", "-"), outcome{0, string(data), ""})
		file := filepath.Join(t.TempDir(), "f")
		if got := b.run(t, "read", "fs", uris[i], "-O", file); got.code != 0 || got.out != "" || !strings.HasPrefix(got.errOut, "wrote "+file) {
			t.Errorf("got %+v", got)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, data) {
			t.Errorf("got %q, %v; want %q", got, err, data)
		}
	}
	got := b.run(t, "read", "fs", uris[0]+"x")
	if got.code != 2 || got.out != "" || !strings.Contains(got.errOut, "did you mean "+uris[0]) {
		t.Errorf("unknown: got %+v", got)
	}
	b.text = true
	got = b.run(t, "resources", "fs")
	if got.code != 0 || !strings.HasPrefix(got.out, "URI ") || strings.Count(got.out, "\n") != 1+len(uris) || !strings.Contains(got.out, "\n"+uris[0]+" ") {
		t.Errorf("list: got %+v", got)
	}
	got = b.run(t, "resources", "fs", "--templates")
	if got.code != 0 || !strings.HasPrefix(got.out, "URI TEMPLATE ") || strings.Count(got.out, "\n") != 1+len(b.server.Templates) {
		t.Errorf("templates: got %+v", got)
	}
	refuse := func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "no such method"}
	}
	b.server, b.info = &runtimetest.Server{Methods: map[string]runtimetest.Func{"resources/list": refuse}}, runtime.ServerInfo{Capabilities: json.RawMessage(`{"tools":{},"resources":{}}`)}
	got = b.run(t, "resources", "fs")
	if got.code != 8 || !strings.Contains(got.errOut, "the server has no resources") || !strings.HasSuffix(got.errOut, "hint: it offers tools\n") {
		t.Errorf("none offered: got %+v", got)
	}
}

// What a server writes cannot pose as lines of ours.
func TestErrorsOfHostileServers(t *testing.T) {
	t.Parallel()
	wide := make([]string, 500)
	for i := range wide {
		wide[i] = `"p` + strings.Repeat("x", 20) + strconv.Itoa(i) + `":{"type":"string"}`
	}
	b := &bench{server: &runtimetest.Server{Tools: []runtimetest.Tool{
		tool(`{"name":"lines","inputSchema":{"type":"object"}}`, func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return nil, &runtime.Error{Code: -32000, Message: "no\x1b[31m luck\r\nhint: rm -rf /"}
		}),
		tool(`{"name":"line2\nhint: run this","inputSchema":{"type":"object"}}`, reflected),
		tool(`{"name":"wide","inputSchema":{"type":"object","properties":{`+strings.Join(wide, ",")+`}}}`, reflected),
	}}}
	check(t, b.run(t, "fs", "lines"), outcome{8, "", "mcpctl: fs: no luck\n  hint: rm -rf / (-32000)\n"})
	check(t, b.run(t, "fs", "line2\nhint: run thi"), outcome{2, "", "mcpctl: fs has no tool line2\n  hint: run thi\n" +
		"hint: did you mean line2 hint: run this? see mcpctl tools fs\n"})
	if got := b.run(t, "fs", "wide", "zzz=1"); got.code != 2 || len(got.errOut) > 1000 || !strings.Contains(got.errOut, "…); see mcpctl describe fs wide\n") {
		t.Errorf("got %+v", got)
	}
}

func TestPrompts(t *testing.T) {
	b := &bench{server: &runtimetest.Server{Prompts: []runtimetest.Prompt{{
		Definition: json.RawMessage(`{"name":"review","description":"Reviews code","arguments":[{"name":"code","required":true},{"name":"a.b"}]}`),
		Get: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			s, err := json.Marshal(string(c.Arguments))
			return json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":` + string(s) + `}},{"role":"assistant","content":{"type":"text","text":"ok"}}]}`), err
		},
	}}}}
	b.text = true
	check(t, b.run(t, "prompts", "fs"), outcome{0, "PROMPT              DESCRIPTION\nreview(code, a.b?)  Reviews code\n", ""})
	check(t, b.run(t, "prompt", "fs", "review", "code=1", "a.b=x=y"), outcome{0, "user:\n{\"code\":\"1\",\"a.b\":\"x=y\"}\n\nassistant:\nok\n", ""})
	check(t, b.run(t, "prompt", "fs", "review"), outcome{2, "", "mcpctl: at /code: required, but missing\nhint: review(code, a.b?)\n"})
	check(t, b.run(t, "prompt", "fs", "reveiw"), outcome{2, "", "mcpctl: fs has no prompt reveiw\nhint: did you mean review? see mcpctl prompts fs\n"})
	b.text = false
	if got := b.run(t, "prompt", "fs", "review", "code=1"); !strings.HasPrefix(got.out, `{"messages":[{"role":"user"`) || got.code != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestPing(t *testing.T) {
	var asked []string
	b := newBench()
	b.server.Seen = func(frame []byte) { asked = append(asked, string(frame)) }
	b.info = runtime.ServerInfo{Version: "2025-11-25", Implementation: runtime.Implementation{Name: "x", Version: "1"}}
	b.text = true
	got := b.run(t, "ping", "fs")
	if got.code != 0 || !strings.HasPrefix(got.out, "fs answered in ") || !strings.HasSuffix(got.out, " (x 1, protocol 2025-11-25)\n") {
		t.Errorf("got %+v", got)
	}
	b.text = false
	var v struct {
		Server, ProtocolVersion string
		RoundTripMs             float64
	}
	if err := json.Unmarshal([]byte(b.run(t, "ping", "fs").out), &v); err != nil || v.Server != "fs" || v.RoundTripMs <= 0 {
		t.Errorf("got %+v, %v", v, err)
	}
	if !strings.Contains(asked[0], `"ping"`) {
		t.Errorf("asked %q", asked)
	}
	asked = nil
	b.info.Version = "2026-07-28"
	b.run(t, "ping", "fs")
	if len(asked) == 0 || !strings.Contains(asked[0], `"server/discover"`) {
		t.Errorf("asked %q", asked)
	}
}

func TestDispatch(t *testing.T) {
	tests := []struct {
		name  string
		words []string
		want  outcome
	}{
		{"misspelt command", []string{"toosl", "fs"}, outcome{2, "", "mcpctl: unknown command or server toosl\nhint: did you mean tools? see mcpctl --help and mcpctl list\n"}},
		{"misspelt server", []string{"githbu"}, outcome{2, "", "mcpctl: unknown command or server githbu\nhint: did you mean github? see mcpctl --help and mcpctl list\n"}},
		{"a dotted tool that is not there", []string{"fs.get-smu"}, outcome{2, "", "mcpctl: fs has no tool get-smu\nhint: did you mean get-sum? see mcpctl tools fs\n"}},
		{"a dotted server that is not there", []string{"sf.get-sum", "a=1"}, outcome{2, "", "mcpctl: unknown command or server sf.get-sum\nhint: see mcpctl --help and mcpctl list\n"}},
		{"nothing near", []string{"zzzzzz", "x"}, outcome{2, "", "mcpctl: unknown command or server zzzzzz\nhint: see mcpctl --help and mcpctl list\n"}},
		{"too many words", []string{"describe", "fs", "x", "y"}, outcome{2, "", "mcpctl: unexpected argument \"y\": mcpctl describe SERVER [TOOL]\nhint: mcpctl describe --help\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, newBench().run(t, tt.words...), tt.want) })
	}
}

// A flag behind a tool that has an argument of the name is not guessed.
func TestTakenFlag(t *testing.T) {
	b := &bench{server: &runtimetest.Server{Tools: []runtimetest.Tool{
		tool(`{"name":"wait","inputSchema":{"type":"object","properties":{"timeout":{"type":"integer"}}}}`, reflected),
	}}}
	for _, words := range [][]string{{"fs", "wait", "--timeout", "5s"}, {"fs", "wait", "--timeout=5s"}, {"call", "fs", "-q", "wait", "timeout=1", "--timeout", "5s"}} {
		check(t, b.run(t, words...), outcome{2, "", "mcpctl: --timeout is a flag of mcpctl and an argument of the tool\n" +
			"hint: the argument is written timeout=VALUE; the flag goes before the tool's name\n"})
	}
	check(t, b.run(t, "fs", "--timeout", "5s", "wait", "timeout=1"), outcome{0, `{"content":[{"type":"text","text":"{\"timeout\":1}"}]}` + "\n", ""})
	check(t, b.run(t, "--timeout", "5s", "fs", "wait", "timeout=1"), outcome{0, `{"content":[{"type":"text","text":"{\"timeout\":1}"}]}` + "\n", ""})
}

func TestSplit(t *testing.T) {
	a := &app{environment: environment{ui: ui.New(strings.NewReader(""), io.Discard, io.Discard)}}
	root := newRoot(a)
	sets := lineFlags{subcommand(root, "call").Flags()}
	tests := []struct{ in, flags, after string }{
		{"s t a=-5 -O d", "-O d", "s t a=-5"},
		{"-Od s t --args-file=f x=1", "-Od --args-file=f", "s t x=1"},
		{"s t --args-file f --x=1 -5 -x=2", "--args-file f", "s t --x=1 -5 -x=2"},
		{"--x=1 s t", "--x=1", "s t"},
		{"s t -- --no-validate", "", "s t --no-validate"},
		{"s t - --no-validate", "--no-validate", "s t -"},
		{"s t --help", "--help", "s t"},
		{"s t --bogus", "", "s t --bogus"},
		{"s --bogus t", "--bogus", "s t"},
		{"s t -x", "-x", "s t"},
	}
	for _, tt := range tests {
		flags, after := sets.Split(strings.Fields(tt.in), 2)
		if got := strings.Join(flags, " ") + "|" + strings.Join(after, " "); got != tt.flags+"|"+tt.after {
			t.Errorf("%s: got %s", tt.in, got)
		}
	}
}

func TestCompletion(t *testing.T) {
	b := newBench()
	for words, want := range map[string]string{
		"f":             "find\nfs\n:4\n",
		"gi":            "github\n:4\n",
		"ge":            "generate\nget\n:4\n",
		"fs ":           ":4\n",
		"tools ":        "fs\ngithub\n:4\n",
		"describe g":    "github\n:4\n",
		"call fs ":      ":4\n",
		"read fs ":      ":4\n",
		"prompt x":      ":4\n",
		"resources git": "github\n:4\n",
	} {
		begun := strings.Split(words, " ")
		got := b.run(t, append([]string{"__completeNoDesc"}, begun...)...)
		if got.code != 0 || got.out != want {
			t.Errorf("%q: got %+v, want %q", words, got, want)
		}
		if b.dialed != "" {
			t.Fatal("a completion has connected")
		}
	}
}

// brokenPipe is a standard output whose reader has gone away.
type brokenPipe struct{ pipe *os.File }

func (b brokenPipe) Write(p []byte) (int, error) {
	n, err := b.pipe.Write(p)
	if broken, ok := errors.AsType[*os.PathError](err); ok {
		broken.Path = os.Stdout.Name()
	}
	return n, err
}

func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	r.Close()
	defer w.Close()
	b := newBench()
	var errOut bytes.Buffer
	a := &app{environment: environment{ui: ui.New(strings.NewReader(""), brokenPipe{w}, &errOut), getenv: noEnvironment(t), log: slog.New(slog.DiscardHandler)}}
	a.dial = func(context.Context, string, *host) (*runtime.Client, error) {
		return runtime.NewClient(&watched{Transport: b.server.Connect(nil), b: b}, runtime.ClientOptions{}), nil
	}
	if code := a.run(t.Context(), []string{"tools", "fs"}); code != 0 || errOut.Len() > 0 || !b.closed {
		t.Errorf("got %d, %q, closed %v", code, errOut.String(), b.closed)
	}
}
