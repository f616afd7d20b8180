package dial

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// mute is a server that takes everything and never answers.
type mute struct{}

func (mute) Call(ctx context.Context, _ *runtime.Request) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (mute) Notify(context.Context, *runtime.Request) error { return nil }
func (mute) Close() error                                   { return nil }

// TestConnectTimeout: connecting ends after the bound that counts, on a fake
// clock: that of the options, of the entry, 30 s, or none.
func TestConnectTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		option, entry, want time.Duration
	}{
		"default":           {0, 0, 30 * time.Second},
		"of the entry":      {0, 7 * time.Second, 7 * time.Second},
		"of the options":    {3 * time.Second, 7 * time.Second, 3 * time.Second},
		"off":               {-1, 7 * time.Second, time.Hour},
		"off, by the entry": {0, -1, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				d := &dialer{Expanded: config.Expanded{Entry: config.Entry{Name: "mute", ConnectTimeout: c.entry}}, o: Options{ConnectTimeout: c.option}}
				begun := time.Now()
				_, err := d.connect(ctx, negotiate.Options{Open: func(context.Context) (runtime.Transport, error) { return mute{}, nil }})
				if got := time.Since(begun); got != c.want {
					t.Errorf("ended after %s, want %s", got, c.want)
				}
				var timeout *runtime.TimeoutError
				if c.want < time.Hour && (!errors.As(err, &timeout) || timeout.After != c.want) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
