package ui_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// TestWatch: into a pipe, what is shown is written when it has changed; on a terminal, it takes the
// place of what was there, and nothing is asked.
func TestWatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		terminal bool
		want     string
		notes    string
	}{
		{"pipe", false, "one\ntwo\nTWO\nthree\n", "note 1\nnote 2\nnote 3\nnote 4\n"},
		{"terminal", true, "\x1b[2Kone\r\n\x1b[2Knote 1\r\n\x1b[J" + "\r\x1b[2A\x1b[2Kone\r\n\x1b[2Knote 2\r\n\x1b[J" + "\r\x1b[2A\x1b[2Ktwo\r\n\x1b[2KTWO\r\n\x1b[2Knote 3\r\n\x1b[J" + "\r\x1b[3A\x1b[2Kthree\r\n\x1b[2Knote 4\r\n\x1b[J", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out, errOut bytes.Buffer
				u := ui.New(strings.NewReader(""), &out, &errOut)
				u.OutTTY, u.ErrTTY, u.InTTY = tt.terminal, tt.terminal, tt.terminal
				ctx, end := context.WithTimeout(t.Context(), 7*time.Second)
				defer end()
				texts := []string{"one\n", "one\n", "two\nTWO\n", "three\n"}
				n := 0
				err := u.Watch(ctx, 2*time.Second, func() error {
					if u.CanAsk() {
						t.Error("it can ask")
					}
					n++
					u.Info("note %d", n)
					_, err := fmt.Fprint(u.Out, texts[n-1])
					return err
				})
				if !errors.Is(err, context.DeadlineExceeded) || u.CanAsk() != tt.terminal {
					t.Errorf("got %v, %v", err, u.CanAsk())
				}
				if out.String() != tt.want || errOut.String() != tt.notes {
					t.Errorf("got %q, %q, want %q", out.String(), errOut.String(), tt.want)
				}
			})
		})
	}
	u := ui.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	if err := u.Watch(t.Context(), time.Hour, func() error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
