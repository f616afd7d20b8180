package gosdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/generated/everything"
	"github.com/mcpctl/mcpctl/generated/memory"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/runtime/gosdk"
)

// server is a server of the SDK with some tools of the reference servers and
// some of its own. Lists come in pages of two.
func server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{
		PageSize: 2,
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			known := ""
			if r.Params.Context != nil {
				known = r.Params.Context.Arguments["country"]
			}
			p := r.Params
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{p.Ref.Type, p.Ref.Name + p.Ref.URI, p.Argument.Name, p.Argument.Value, known}, Total: 9, HasMore: true}}, nil
		},
	})
	tool := func(definition string, f mcp.ToolHandler) {
		t := &mcp.Tool{}
		if err := json.Unmarshal([]byte(definition), t); err != nil {
			panic(err)
		}
		s.AddTool(t, f)
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	tool(echoTool, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("Echo: " + string(r.Params.Arguments)), nil
	})
	tool(`{"name":"get-structured-content","inputSchema":{"type":"object"}}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"temperature":33.5,"conditions":"Cloudy","humidity":82}`)}, nil
	})
	tool(`{"name":"read_graph","inputSchema":{"type":"object"}}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(`{"entities":[{"name":"a","entityType":"t","observations":["o"]}],"relations":[]}`), nil
	})
	tool(`{"name":"fail","inputSchema":{"type":"object"}}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := text("it did not work")
		r.IsError = true
		return r, nil
	})
	tool(`{"name":"meta","inputSchema":{"type":"object"}}`, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(r.Params.Meta["k"])), nil
	})
	tool(`{"name":"id","inputSchema":{"type":"object"}}`, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"id":9007199254740993,"half":1.50}`)}
		if strings.Contains(string(r.Params.Arguments), "text") {
			res.Content = []mcp.Content{&mcp.TextContent{Text: "see below"}, &mcp.TextContent{Text: `{"id":1}`}, &mcp.TextContent{Text: `{"id":9007199254740993,"half":1.50}`}}
		}
		return res, nil
	})
	for _, n := range []int{3, 30} {
		tool(fmt.Sprintf(`{"name":"%d steps","inputSchema":{"type":"object"}}`, n), func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range n {
				if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 30, Message: "m"}); err != nil {
					return nil, err
				}
				time.Sleep(time.Second)
			}
			return text("done"), nil
		})
	}
	tool(`{"name":"hang","inputSchema":{"type":"object"}}`, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "d", Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hi " + r.Params.Arguments["who"]}}}}, nil
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "x", MIMEType: "text/plain"}, {URI: r.Params.URI, Blob: []byte{1, 2}}}}, nil
	}
	for _, name := range []string{"a", "b", "c"} {
		s.AddResource(&mcp.Resource{URI: "x://" + name, Name: name}, read)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "y://{id}", Name: "y"}, read)
	return s
}

const echoTool = `{"name":"echo","title":"Echo","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]},"annotations":{"readOnlyHint":true,"destructiveHint":false}}`

// connect returns a caller whose session talks to a server in memory, or over
// HTTP.
func connect(t *testing.T, o gosdk.Options, overHTTP bool) *gosdk.Caller {
	t.Helper()
	var copts mcp.ClientOptions
	if o.Progress != nil {
		copts.ProgressNotificationHandler = o.Progress.Handle
	}
	s := server()
	var transport mcp.Transport
	if overHTTP {
		srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
		t.Cleanup(srv.Close)
		transport = &mcp.StreamableClientTransport{Endpoint: srv.URL}
	} else {
		var far *mcp.InMemoryTransport
		transport, far = mcp.NewInMemoryTransports()
		if _, err := s.Connect(t.Context(), far, nil); err != nil {
			t.Fatal(err)
		}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &copts).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return gosdk.New(session, o)
}

// TestGenerated: clients that mcpctl generates, through a session of the SDK.
func TestGenerated(t *testing.T) {
	for _, overHTTP := range []bool{false, true} {
		c := connect(t, gosdk.Options{}, overHTTP)
		ev := everything.New(c)
		r, err := ev.Echo(t.Context(), everything.EchoParams{Message: "<é>"})
		if want := `Echo: {"message":"<é>"}`; err != nil || r.Text() != want {
			t.Errorf("got %v %v, want %s", r, err, want)
		}
		weather, err := ev.GetStructuredContent(t.Context(), everything.GetStructuredContentParams{Location: everything.GetStructuredContentLocationChicago})
		if err != nil || weather.Temperature != 33.5 || weather.Conditions != "Cloudy" || weather.Raw == nil {
			t.Errorf("got %+v %v", weather, err)
		}
		graph, err := memory.New(c).ReadGraph(t.Context())
		if err != nil || len(graph.Entities) != 1 || graph.Entities[0].Observations[0] != "o" {
			t.Errorf("got %+v %v", graph, err)
		}
	}
}

// TestResults: what the SDK keeps of a result, and the conversion of errors.
func TestResults(t *testing.T) {
	c := connect(t, gosdk.Options{}, false)
	ctx := t.Context()
	call := func(name, args string, opts *runtime.CallOptions) (*runtime.ToolResult, error) {
		return c.CallTool(ctx, name, json.RawMessage(args), opts)
	}
	if r, err := call("fail", "", nil); err != nil || !r.IsError || r.Text() != "it did not work" {
		t.Errorf("isError: got %v %v", r, err)
	}
	if r, err := call("id", `{"text":1}`, nil); err != nil || string(r.Structured) != `{"id":9007199254740993,"half":1.50}` {
		t.Errorf("digits: got %s %v", r.Structured, err)
	}
	if r, err := call("id", `{}`, nil); err != nil || !strings.HasPrefix(string(r.Structured), `{"half":1.5,"id":900719925474099`) {
		t.Errorf("digits that are in no text: got %s %v", r.Structured, err)
	}
	if r, err := call("meta", `{}`, &runtime.CallOptions{Meta: map[string]json.RawMessage{"k": json.RawMessage(`"v"`)}}); err != nil || r.Text() != "v" {
		t.Errorf("meta: got %v %v", r, err)
	}
	var answer *runtime.Error
	if _, err := call("nobody", `{}`, nil); !errors.As(err, &answer) || answer.Code != runtime.CodeInvalidParams || len(answer.Raw) == 0 {
		t.Errorf("unknown tool: got %v", err)
	}
	for args, opts := range map[string]*runtime.CallOptions{
		`{"a"`: nil,
		`{}`:   {Meta: map[string]json.RawMessage{"k": json.RawMessage(`{`)}},
		` {}`:  {Progress: func(runtime.Progress) {}},
	} {
		if _, err := call("echo", args, opts); !errors.Is(err, runtime.ErrNotSent) {
			t.Errorf("%s: got %v, want it not sent", args, err)
		}
	}
	if _, err := call("echo", `{}`, &runtime.CallOptions{Progress: func(runtime.Progress) {}}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("progress that nobody hears: got %v", err)
	}
}

func TestClosed(t *testing.T) {
	near, far := mcp.NewInMemoryTransports()
	if _, err := server().Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := gosdk.New(session, gosdk.Options{}).CallTool(t.Context(), "echo", nil, nil); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestTimeouts: silence, progress that keeps a call alive, the ceiling, and
// the caller's own end.
func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		progress := new(gosdk.Progress)
		c := connect(t, gosdk.Options{Progress: progress, Ceiling: 10 * time.Second}, false)
		var heard []float64
		call := func(ctx context.Context, name string, limit time.Duration) error {
			r, err := c.CallTool(ctx, name, nil, &runtime.CallOptions{Timeout: limit, Progress: func(p runtime.Progress) {
				if p.Total == nil || *p.Total != 30 || p.Message != "m" {
					t.Errorf("heard %+v", p)
				}
				heard = append(heard, p.Progress)
			}})
			if err == nil && r.Text() != "done" {
				t.Errorf("got %v", r)
			}
			return err
		}
		after := func(want time.Duration, err error) {
			t.Helper()
			var timeout *runtime.TimeoutError
			if !errors.As(err, &timeout) || timeout.After != want {
				t.Errorf("got %v, want a timeout after %v", err, want)
			}
		}
		after(time.Second, call(t.Context(), "hang", time.Second))
		after(10*time.Second, call(t.Context(), "hang", time.Minute))
		if err := call(t.Context(), "3 steps", 1500*time.Millisecond); err != nil || !slices.Equal(heard, []float64{0, 1, 2}) {
			t.Errorf("got %v, heard %v", err, heard)
		}
		after(500*time.Millisecond, call(t.Context(), "3 steps", 500*time.Millisecond))
		after(10*time.Second, call(t.Context(), "30 steps", 1500*time.Millisecond))
		heard = nil
		if err := call(t.Context(), "30 steps", -1); err != nil || len(heard) != 30 {
			t.Errorf("got %v, heard %v", err, heard)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := call(ctx, "hang", 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		started := time.Now()
		c = connect(t, gosdk.Options{Progress: progress}, false)
		after(time.Minute, call(t.Context(), "hang", 0))
		if took := time.Since(started); took != time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

// TestOther: prompts, resources, completion, lists.
func TestOther(t *testing.T) {
	c := connect(t, gosdk.Options{}, false)
	ctx := t.Context()
	if r, err := c.GetPrompt(ctx, "greet", map[string]string{"who": "Ada"}, nil); err != nil || r.Messages[0].Content.Text != "Hi Ada" || r.Description != "d" || len(r.Raw) == 0 {
		t.Errorf("prompt: got %+v %v", r, err)
	}
	if r, err := c.ReadResource(ctx, "y://7", nil); err != nil || len(r.Contents) != 2 || r.Contents[0].URI != "y://7" || len(r.Contents[1].Blob) != 2 || len(r.Raw) == 0 {
		t.Errorf("resource: got %+v %v", r, err)
	}
	got, err := c.Complete(ctx, runtime.CompletionRef{Prompt: "greet"}, "who", "A", map[string]string{"country": "no"}, nil)
	if want := []string{"ref/prompt", "greet", "who", "A", "no"}; err != nil || !slices.Equal(got.Values, want) || *got.Total != 9 || !got.HasMore {
		t.Errorf("completion: got %+v %v", got, err)
	}
	if got, err := c.Complete(ctx, runtime.CompletionRef{Template: "y://{id}"}, "id", "", nil, nil); err != nil || got.Values[1] != "y://{id}" {
		t.Errorf("completion: got %+v %v", got, err)
	}
	var names []string
	for v, err := range c.Tools(ctx) {
		if err != nil || len(v.Raw) == 0 {
			t.Fatal(v, err)
		}
		names = append(names, v.Name)
	}
	for v, err := range c.Prompts(ctx) {
		if err != nil || !v.Arguments[0].Required || len(v.Raw) == 0 {
			t.Fatal(v, err)
		}
		names = append(names, v.Name)
	}
	for v, err := range c.Resources(ctx) {
		if err != nil || len(v.Raw) == 0 {
			t.Fatal(v, err)
		}
		names = append(names, v.Name)
	}
	for v, err := range c.ResourceTemplates(ctx) {
		if err != nil || len(v.Raw) == 0 {
			t.Fatal(v, err)
		}
		names = append(names, v.URITemplate)
	}
	if want := "3 steps 30 steps echo fail get-structured-content hang id meta read_graph greet a b c y://{id}"; strings.Join(names, " ") != want {
		t.Errorf("got %v, want %s", names, want)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range c.Tools(ended) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// TestDrift: the digest of a tool does not depend on the SDK, though that adds hints
// that the server left out.
func TestDrift(t *testing.T) {
	want, err := codegen.DigestTool(json.RawMessage(echoTool))
	if err != nil {
		t.Fatal(err)
	}
	surface := &codegen.Surface{Tools: map[string]string{"echo": want.Structure, "fail": "sha256:other"}}
	c := codegen.NewClient(connect(t, gosdk.Options{}, false), surface, runtime.WithDrift(runtime.DriftFail, nil))
	if _, err := c.Call(t.Context(), "echo", json.RawMessage(`{"message":"m"}`), nil); err != nil {
		t.Error(err)
	}
	var drift *runtime.DriftError
	if _, err := c.Call(t.Context(), "fail", nil, nil); !errors.As(err, &drift) {
		t.Errorf("got %v", err)
	}
}
