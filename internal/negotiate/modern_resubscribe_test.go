package negotiate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestSubscribeInVain: what nobody waits for any more is not asked for.
func TestSubscribeInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hears atomic.Bool
		s, asked := listenerOf(`{"resources":{"subscribe":true}}`, hears.Load, untilItEnds)
		h := &notes{}
		c := connectTo(t, negotiate.Options{HTTP: true, Handler: h}, func() runtime.Transport { return s.Connect(h) })
		subscribe := func(uri string) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.Call(ctx, &runtime.Request{Method: "resources/subscribe", Params: json.RawMessage(`{"uri":"` + uri + `"}`)})
			return err
		}
		for n := range 5 {
			if subscribe(fmt.Sprint("vain:", n)) == nil {
				t.Error("agreed to by a server that is deaf")
			}
		}
		time.Sleep(time.Hour) // as time goes in the bubble
		hears.Store(true)
		err := errors.New("never asked")
		for range 3 { // the stream before may have to end first
			if err = subscribe("good:1"); err == nil {
				break
			}
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		// The first had been sent by the time it was given up.
		if later := strings.Join(asked()[1:], " "); err != nil || strings.Contains(later, "vain:") || !strings.Contains(later, "good:1") {
			t.Errorf("%v: asked for %q", err, asked())
		}
	})
}

// untilItEnds keeps a listen open.
func untilItEnds(ctx context.Context, _ int, _ *runtimetest.Call) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestSubscribeAgain: who subscribes to what somebody has left before hears of
// it like the first, whether or not the stream is still open.
func TestSubscribeAgain(t *testing.T) {
	for _, overHTTP := range []bool{false, true} {
		for _, between := range []time.Duration{0, time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				var last *runtimetest.Call
				s, _ := listener(`{"resources":{"subscribe":true}}`, func(ctx context.Context, n int, c *runtimetest.Call) error {
					last = c
					return untilItEnds(ctx, n, c)
				})
				h := &notes{}
				c := connectTo(t, negotiate.Options{HTTP: overHTTP, Handler: h}, func() runtime.Transport { return s.Connect(h) })
				for _, method := range []string{"resources/subscribe", "resources/unsubscribe", "resources/subscribe"} {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					if _, err := c.Call(ctx, &runtime.Request{Method: method, Params: json.RawMessage(`{"uri":"a:b"}`)}); err != nil {
						t.Errorf("over HTTP %v, %s between, %s: %v", overHTTP, between, method, err)
					}
					cancel()
					time.Sleep(between)
				}
				synctest.Wait()
				before := len(h.all())
				tell(last, "notifications/resources/updated", `"uri":"a:b"`)
				synctest.Wait()
				if got := h.all(); len(got) != before+1 {
					t.Errorf("over HTTP %v, %s between: told %v", overHTTP, between, got)
				}
			})
		}
	}
}
