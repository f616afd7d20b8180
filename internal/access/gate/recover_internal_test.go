package gate

import (
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestRecover: a panic denies, before a call and before its result is delivered.
func TestRecover(t *testing.T) {
	t.Parallel()
	set, err := policy.Compile(policy.Config{Sources: []policy.Source{{Name: "test.cedar", Text: []byte(`@id("all") permit(principal, action, resource);
		@id("one") @over("1/s") forbid(principal, action, resource) when { context.front == "x" };`)}}})
	require.NoError(t, err)
	view := set.Snapshot([]policy.Server{{Name: "fs", Transport: "stdio"}}, []policy.Item{{Kind: policy.Tool, Server: "fs", Name: "read", Definition: []byte(`{"name":"read"}`)}}).View(nil)
	_, conditions := view.Item(0)
	g := New(Config{Set: set})
	g.limits, g.flows = nil, nil // which panic
	use := func() *Use {
		return &Use{Request: policy.Request{Transport: "x"}, Server: "fs", Item: "read"}
	}
	out, delivered := g.Deliver(nil, []string{"private"}, use(), []byte(`{}`))
	_, decided := g.Decide(conditions, use())
	for name, err := range map[string]error{"decide": decided, "deliver": delivered} {
		if d, ok := errors.AsType[*access.Denied](err); !ok || d.Code != access.CodeDenied || d.Server != "fs" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if out != nil {
		t.Errorf("delivered %s", out)
	}
}
