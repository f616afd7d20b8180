package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// person is somebody at a terminal who is never asked.
type person struct{ auth.Prompter }

// TestUnattended: what is set to wait for ever, or for a person, is not.
func TestUnattended(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, entry, want time.Duration }{
		{0, 0, defaultLimit},
		{-1, 0, defaultLimit},
		{0, -1, defaultLimit},
		{-1, time.Second, defaultLimit},
		{time.Minute, -1, time.Minute},
		{0, time.Second, 0}, // the entry's
	} {
		if got := unattended(dial.Options{ConnectTimeout: c.flag}, config.Entry{ConnectTimeout: c.entry}).ConnectTimeout; got != c.want {
			t.Errorf("%v, entry %v: got %v", c.flag, c.entry, got)
		}
	}
	asked := &dial.Auth{Prompter: person{}}
	if o := unattended(dial.Options{Auth: asked}, config.Entry{}); o.Auth.Prompter != nil || asked.Prompter == nil {
		t.Error("somebody is asked to log in, or nobody is any more")
	}
}

// TestTurns: programs start in the queue of serve, 16 for each processor, and remote servers do
// not wait for them.
func TestTurns(t *testing.T) {
	t.Parallel()
	turns := proxy.NewStartLimiter()
	most := 16 * goruntime.GOMAXPROCS(0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var entries []config.Entry
	for i := range most + 3 {
		entries = append(entries, config.Entry{Name: fmt.Sprint("local", i), Command: "no-such-program"})
	}
	entries = append(entries, config.Entry{Name: "remote", URL: "http://127.0.0.1:1/mcp"})
	begun := make(chan string, len(entries))
	hold := make(chan struct{})
	d := &Doctor{
		Turns: turns, Kind: func(error) string { return "connect" }, Hint: func(error) string { return "" },
		Dial: func(e config.Entry) dial.Options {
			if e.Command != "" {
				begun <- e.Name
				<-hold
			}
			return dial.Options{}
		},
	}
	remote := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := d.Servers(ctx, entries, func(i int, r *Report) {
			if r != nil && entries[i].Name == "remote" {
				close(remote)
			}
		})
		done <- err
	}()
	for range most {
		<-begun
	}
	<-remote
	select {
	case name := <-begun:
		t.Errorf("%s has begun beside %d others", name, most)
	default:
	}
	close(hold)
	go func() {
		for range begun {
		}
	}()
	require.NoError(t, <-done)
	close(begun)
}

// TestSchemaFaults: the tool, which of its schemas, and the place in it.
func TestSchemaFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, out, of, place string }{
		{`{"type":"object"}`, "", "", ""},
		{`{"type":"object"}`, `{"type":"object"}`, "", ""},
		{"", "", "t: it has no inputSchema", ""},
		{`{"properties":{"a":{"type":"objekt"}}}`, "", "t: inputSchema", "/properties/a/type: "},
		{`{"type":"object"}`, `[]`, "t: outputSchema", "neither an object nor a boolean"},
	} {
		got := strings.Join(schemaFaults(runtime.Tool{Name: "t", InputSchema: json.RawMessage(c.in), OutputSchema: json.RawMessage(c.out)}), "\n")
		if (got == "") != (c.of == "") || !strings.HasPrefix(got, c.of) || !strings.Contains(got, c.place) || strings.Contains(got, "\n") {
			t.Errorf("%s %s: got %q", c.in, c.out, got)
		}
	}
}
