package proxy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// TestBlankLineBehindACall: what comes with a message and is none must not
// keep the message from being sent on.
func TestBlankLineBehindACall(t *testing.T) {
	_, c := start(t, two(), proxy.Options{Servers: []string{"a", "b"}})
	c.result("tools/list", `{}`) // connects: the calls go the quick way
	for i := range 20 { // some are sent on by a write that is under way
		id := fmt.Sprint(i + 1000)
		answer := c.expect(id)
		c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"a__echo","arguments":{"message":"hi"}}}` + "\n\r\n")
		select {
		case <-answer:
		case <-time.After(10 * time.Second):
			t.Fatal("no answer")
		}
	}
}
