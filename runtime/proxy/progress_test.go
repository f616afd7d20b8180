package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestProgressOnlyIncreases: what does not, what is of no call, and what comes
// behind the answer is dropped.
func TestProgressOnlyIncreases(t *testing.T) {
	for _, plain := range []bool{false, true} {
		s := runtimetest.New()
		s.Tools = append(s.Tools, runtimetest.Tool{
			Definition: json.RawMessage(`{"name":"steps2","inputSchema":{"type":"object"}}`),
			Call: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
				say := func(token, progress string) {
					c.Notify("notifications/progress", json.RawMessage(fmt.Sprintf(`{"progress":%s,"progressToken":%s,"total":9007199254740993}`, progress, token)))
				}
				own := string(c.Token)
				for _, progress := range []string{"0.5", "0.5", "0.25", "1e0", `"2"`, "1.5", "-3", "2"} {
					say(own, progress)
				}
				say(`"other"`, "3")
				say(`17`, "3")
				return runtimetest.Text("done"), nil
			},
		})
		b := newPool(map[string]*runtimetest.Server{"a": s})
		b.plain = plain
		c := attach(t, b.serve(t, proxy.Options{}))
		for _, token := range []string{`"mine"`, `9007199254740993`} {
			c.result("tools/call", `{"name":"a__steps2","arguments":{},"_meta":{"progressToken":`+token+`}}`)
			c.result("ping", `{}`)
			var got []string
			for len(c.notes) > 0 {
				got = append(got, strings.TrimPrefix(<-c.notes, `{"jsonrpc":"2.0","method":"notifications/progress","params":`))
			}
			var want []string
			for _, progress := range []string{"0.5", "1e0", "1.5", "2"} {
				want = append(want, `{"progress":`+progress+`,"progressToken":`+token+`,"total":9007199254740993}}`)
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("plain %v: got\n%s\nwant\n%s", plain, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}
