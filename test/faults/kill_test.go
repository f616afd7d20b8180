//go:build faults && linux

package faults_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestKilled: where mcpctl itself is killed, nothing of its servers is left,
// whatever they do to stay, and their children with them.
func TestKilled(t *testing.T) {
	for name, faults := range map[string]string{
		"good":                 "",
		"deaf":                 "ignore-term",
		"deaf with a child":    "ignore-term,grandchild-stubborn",
		"a child of its own":   "ignore-term,grandchild-session",
		"floods":               "flood-notifications,flood-stderr",
		"in the middle of one": "hang-call",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := hostileEntry("bad", faults)
			delete(bad, "shutdownTimeout") // the default is what counts
			bad["connectTimeout"] = patient.String()
			d := serve(t, wire.Servers{"good": hostileEntry("good", ""), "bad": bad})
			if k, text := attempt(d, "good", 0); k != right {
				t.Fatalf("got %s: %s", k, text)
			}
			if strings.Contains(faults, "hang") {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := newCaller(d)
				defer c.Close()
				go func() { _, _ = c.call(ctx, "bad", "echo", 0, 0) }() // it is cut off
				wait.Until(t, "the call is under way", func() bool { return len(wire.Marked(d.Mark)) >= 2 })
			} else if k, text := attempt(d, "bad", 0); k != right {
				t.Fatalf("got %s: %s", k, text)
			}
			before := wire.Marked(d.Mark)
			_ = d.Cmd.Process.Signal(syscall.SIGKILL)
			start := time.Now()
			<-d.Exited
			wire.NothingLeft(t, d.Mark, start)
			t.Logf("%d processes ended within %s", len(before), time.Since(start).Round(time.Millisecond))
		})
	}
}
