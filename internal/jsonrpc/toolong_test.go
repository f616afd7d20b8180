package jsonrpc_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
)

// TestAnswerTooLong: whoever waits for it hears so, wherever the id stands.
func TestAnswerTooLong(t *testing.T) {
	long := `{"text":"` + strings.Repeat("x", 5000) + `","id":7}`
	for name, c := range map[string]struct {
		frame string // %s is the id of the first call
		calls int
		fails int  // of the calls
		known bool // nothing is reported to nobody
	}{
		"id first":                 {`{"jsonrpc":"2.0","id":%s,"result":` + long + `}`, 2, 1, true},
		"id last":                  {`{"result":` + long + `,"jsonrpc":"2.0","id":%s}`, 2, 1, true},
		"id last but the version":  {`{"result":` + long + `, "id" : %s , "jsonrpc":"2.0" } `, 2, 1, true},
		"id in the middle, alone":  {`{"result":` + long + `,"id":%s,"x":` + long + `}`, 1, 1, true},
		"id in the middle, of two": {`{"result":` + long + `,"id":%s,"x":` + long + `}`, 2, 0, false},
		"somebody else's":          {`{"id":"x%s","result":` + long + `}`, 2, 0, false},
		"a notification":           {`{"method":"%s","params":` + long + `}`, 2, 0, false},
		"rubbish":                  {`%s ` + long, 2, 0, false},
	} {
		in, toUs := io.Pipe()
		fromUs, out := io.Pipe()
		w := jsonrpc.NewWriter(out)
		p := &peer{}
		conn := jsonrpc.NewConn(w, p, false)
		p.conn = conn
		read := make(chan struct{})
		go func() {
			defer close(read)
			conn.Read(jsonrpc.NewLineReader(in, 1000))
		}()
		go func() { _, _ = io.Copy(io.Discard, fromUs) }()
		failed := make(chan error, c.calls)
		for range c.calls {
			go func() {
				_, _, err := conn.Call(t.Context(), &jsonrpc.Call{Method: "m"}, nil)
				failed <- err
			}()
		}
		for pending := 0; pending < c.calls; time.Sleep(time.Millisecond) {
			pending = 0
			conn.Each(func(uint64, jsonrpc.Receiver) { pending++ })
		}
		if _, err := fmt.Fprintf(toUs, c.frame+"\n{\"jsonrpc\":\"2.0\",\"method\":\"after\"}\n", "1"); err != nil {
			t.Fatal(err)
		}
		for range c.fails {
			if err := <-failed; !errors.Is(err, jsonrpc.ErrTooLong) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		_ = toUs.Close()
		<-read
		for range c.calls - c.fails {
			if err := <-failed; errors.Is(err, jsonrpc.ErrTooLong) {
				t.Errorf("%s: too many calls have failed", name)
			}
		}
		if len(p.notes) != 1 || (len(p.malformed) == 0) != c.known {
			t.Errorf("%s: %d notes, %d reported", name, len(p.notes), len(p.malformed))
		}
		_ = fromUs.Close()
		w.Close()
	}
}
