//go:build integration

package peers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/test/wait"
)

// TestSDKOnBothSides drives mcpctl serve with the SDK's client and has the
// SDK's servers behind, over each transport on each side.
func TestSDKOnBothSides(t *testing.T) {
	t.Parallel()
	for gateway, open := range ways() {
		for back, at := range sdkBackends(t) {
			t.Run(gateway+"-"+back, func(t *testing.T) {
				t.Parallel()
				// The one that is dead must not show.
				tour(t, open(t, configure(t, fake("dead", "-exit"), at("sdk"))), gateway, back)
			})
		}
	}
}

func tour(t *testing.T, c *client, gateway, back string) {
	ctx := wait.Context(t)
	// 2026-07-28 has none, and over stdio the SDK's makes no claim to be of it.
	if err := c.Ping(ctx, nil); err != nil && !c.modern() {
		t.Errorf("ping: %v", err)
	}
	if want := strings.HasSuffix(gateway, "2026-07-28"); c.modern() != want {
		t.Errorf("got revision %s", c.InitializeResult().ProtocolVersion)
	}
	lists(ctx, t, c)
	calls(ctx, t, c)
	failures(ctx, t, c)
	if back != "json" { // a JSON answer has no room for what comes before it
		progress(ctx, t, c)
	}
	cancels(ctx, t, c)
	if back != "stdio" || c.modern() {
		// A process that speaks both eras runs once in each: what changes in one
		// does not in the other, whose lists are those that clients see.
		changes(ctx, t, c)
	}
}

func lists(ctx context.Context, t *testing.T, c *client) {
	t.Helper()
	var got []string
	add := func(name string, err error) {
		if err != nil {
			t.Errorf("list: %v", err)
			return
		}
		got = append(got, name)
	}
	for x, err := range c.Tools(ctx, nil) {
		if err != nil {
			t.Fatalf("tools: %v", err)
		}
		add(x.Name, err)
	}
	for x, err := range c.Prompts(ctx, nil) {
		if err != nil {
			t.Fatalf("prompts: %v", err)
		}
		add(x.Name, err)
	}
	for x, err := range c.Resources(ctx, nil) {
		if err != nil {
			t.Fatalf("resources: %v", err)
		}
		add(x.URI, err)
	}
	for x, err := range c.ResourceTemplates(ctx, nil) {
		if err != nil {
			t.Fatalf("templates: %v", err)
		}
		add(x.URITemplate, err)
	}
	want := []string{
		"sdk__add", "sdk__echo", "sdk__fail", "sdk__grow", "sdk__refuse", "sdk__steps", "sdk__wait", "sdk__waits",
		"sdk__greet", "sdk://note", "sdk://item/{id}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
}

func calls(ctx context.Context, t *testing.T, c *client) {
	t.Helper()
	if got, _, err := c.call(ctx, "sdk__echo", message{"grüße\n\u2028"}); err != nil || got != "grüße\n\u2028" {
		t.Errorf("echo: got %q, %v", got, err)
	}
	_, res, err := c.call(ctx, "sdk__add", map[string]int{"A": 40, "B": 2})
	if err != nil || fmt.Sprint(res.StructuredContent) != "map[n:42]" {
		t.Errorf("add: got %v, %v", res, err)
	}
	for _, uri := range []string{"sdk://note", "sdk://item/7"} {
		res, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil || res.Contents[0].Text != "this is "+uri || res.Contents[0].URI != uri {
			t.Errorf("%s: got %+v, %v", uri, res, err)
		}
	}
	prompt, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "sdk__greet", Arguments: map[string]string{"who": "Ada"}})
	if err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "Greet Ada." {
		t.Errorf("prompt: got %+v, %v", prompt, err)
	}
	for ref, want := range map[*mcp.CompleteReference]string{
		{Type: "ref/prompt", Name: "sdk__greet"}:       "greet/A",
		{Type: "ref/resource", URI: "sdk://item/{id}"}: "sdk://item/{id}/A",
	} {
		got, err := c.Complete(ctx, &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "A"}})
		if err != nil || len(got.Completion.Values) != 1 || got.Completion.Values[0] != want {
			t.Errorf("complete %s: got %+v, %v", want, got, err)
		}
	}
}

func failures(ctx context.Context, t *testing.T, c *client) {
	t.Helper()
	got, res, err := c.call(ctx, "sdk__fail", struct{}{})
	if err != nil || !res.IsError || got != "it did not work" {
		t.Errorf("fail: got %q, %v, %v", got, res, err)
	}
	var rpc *jsonrpc.Error
	if _, _, err := c.call(ctx, "sdk__refuse", struct{}{}); !errors.As(err, &rpc) || rpc.Code != -32050 || rpc.Message != "refused" || string(rpc.Data) != `{"why":"told to"}` {
		t.Errorf("refuse: got %#v", err)
	}
	// The last: a server's own name for a tool is for pages of apps.
	for _, name := range []string{"sdk__missing", "nobody__echo", "echo"} {
		if _, _, err := c.call(ctx, name, struct{}{}); !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams || !strings.Contains(rpc.Message, name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: "sdk://item/none"}); !errors.As(err, &rpc) || rpc.Code != -32002 && rpc.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a resource that is not there: got %v", err)
	}
}

func progress(ctx context.Context, t *testing.T, c *client) {
	t.Helper()
	for _, token := range []any{"my token", 7} {
		before := len(c.steps())
		params := &mcp.CallToolParams{Name: "sdk__steps", Arguments: count{3}}
		params.SetProgressToken(token)
		if _, err := c.CallTool(ctx, params); err != nil {
			t.Errorf("steps: %v", err)
		}
		// The SDK handles notifications beside answers.
		wait.Until(t, "three progress messages", func() bool { return len(c.steps()) >= before+3 })
		if got := c.steps()[before:]; !slices.Equal(got, []float64{1, 2, 3}) {
			t.Errorf("token %v: got progress %v", token, got)
		}
	}
}

func cancels(ctx context.Context, t *testing.T, c *client) {
	t.Helper()
	waiting, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, _, err := c.call(waiting, "sdk__wait", struct{}{})
		ended <- err
	}()
	waits := func(want string) func() bool {
		return func() bool {
			got, _, err := c.call(ctx, "sdk__waits", struct{}{})
			if err != nil {
				t.Fatalf("waits: %v", err)
			}
			return got == want
		}
	}
	wait.Until(t, "the call begins", waits("1 0"))
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("wait: got %v", err)
	}
	wait.Until(t, "the cancel reaches the server", waits("1 1"))
}

func changes(ctx context.Context, t *testing.T, c *client) {
	t.Helper()
	// The stream for notifications is opened beside the handshake, on both
	// sides: the first changes may come too early to be told.
	told := false
	for i := 0; !told; i++ {
		for len(c.tools) > 0 { // of changes before
			<-c.tools
		}
		name, _, err := c.call(ctx, "sdk__grow", struct{}{})
		if err != nil {
			t.Fatalf("grow: %v", err)
		}
		told = c.toldOfChange(ctx)
		for told {
			// The list is new before anybody hears of it. What was heard may
			// have been of the change before, told late: then more is to come.
			got, _, err := c.call(ctx, "sdk__"+name, struct{}{})
			if err == nil && got == name {
				break
			}
			if ctx.Err() != nil || !c.toldOfChange(ctx) {
				t.Fatalf("%s: got %q, %v", name, got, err)
			}
		}
	}
}

// TestSDKClientsSideBySide has clients whose ids are equal (the SDK counts from
// 1) call the same server at once.
func TestSDKClientsSideBySide(t *testing.T) {
	t.Parallel()
	for back, at := range sdkBackends(t) {
		t.Run(back, func(t *testing.T) {
			t.Parallel()
			d := serveHTTP(t, configure(t, at("sdk")))
			ctx := wait.Context(t)
			var wg sync.WaitGroup
			for n := range 3 {
				c := connect(t, &mcp.StreamableClientTransport{Endpoint: d.URL})
				wg.Go(func() {
					for i := range 40 {
						want := fmt.Sprint(n, "/", i)
						if got, _, err := c.call(ctx, "sdk__echo", message{want}); err != nil || got != want {
							t.Errorf("client %d: got %q, %v, want %q", n, got, err, want)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestCancelIsForOneClient: two clients wait under the same id; the one that
// gives up must not take the other along.
func TestCancelIsForOneClient(t *testing.T) {
	t.Parallel()
	d := serveHTTP(t, configure(t, sdkBackends(t)["stdio"]("sdk")))
	a := connect(t, &mcp.StreamableClientTransport{Endpoint: d.URL})
	b := connect(t, &mcp.StreamableClientTransport{Endpoint: d.URL})
	watch := connect(t, &mcp.StreamableClientTransport{Endpoint: d.URL})
	ctx := wait.Context(t)
	// Ids in step: the same requests before.
	var wg sync.WaitGroup
	actx, giveUp := context.WithCancel(ctx)
	bctx, end := context.WithCancel(ctx)
	defer end()
	bEnded := make(chan error, 1)
	wg.Go(func() { _, _, _ = a.call(actx, "sdk__wait", struct{}{}) }) // ends by giveUp
	wg.Go(func() {
		_, _, err := b.call(bctx, "sdk__wait", struct{}{})
		bEnded <- err
	})
	waits := func(want string) func() bool {
		return func() bool {
			got, _, err := watch.call(ctx, "sdk__waits", struct{}{})
			return err == nil && got == want
		}
	}
	wait.Until(t, "both calls begin", waits("2 0"))
	giveUp()
	wait.Until(t, "one is cancelled", waits("2 1"))
	for range 20 {
		if !waits("2 1")() {
			t.Error("the other client's call was cancelled, too")
		}
	}
	select {
	case err := <-bEnded:
		t.Errorf("the other client's call ended: %v", err)
	default:
	}
	end()
	wg.Wait()
}
