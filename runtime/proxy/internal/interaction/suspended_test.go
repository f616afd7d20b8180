package interaction_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/interaction"
	"github.com/mcpctl/mcpctl/test/require"
)

// asks is a call that asks questions one after another and results in what it
// was answered.
func asks(methods ...string) func(context.Context, *interaction.Call) (json.RawMessage, error) {
	return func(ctx context.Context, k *interaction.Call) (json.RawMessage, error) {
		all := ""
		for _, m := range methods {
			r, err := k.Ask(ctx, m, json.RawMessage(`{"message":"?"}`))
			if err != nil {
				return nil, err
			}
			all += string(r)
		}
		return json.RawMessage(all), nil
	}
}

func must(t *testing.T, out interaction.Outcome, err error) interaction.Outcome {
	t.Helper()
	require.NoError(t, err)
	return out
}

func TestParkedCallGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		defer p.Close()
		k := p.Start(t.Context(), nil, nil, asks("elicitation/create", "roots/list"))
		out, err := k.Wait(t.Context())
		first := must(t, out, err)
		if len(first.Inputs) != 1 || first.Inputs[0].Key != "b1" || first.Inputs[0].Method != "elicitation/create" || string(first.Inputs[0].Params) != `{"message":"?"}` {
			t.Fatalf("got %+v", first)
		}
		time.Sleep(seal.StateTTL - time.Second)
		k, err = p.Resume(first.Ticket, nil, map[string]json.RawMessage{"b1": json.RawMessage(`1`), "other": nil})
		require.NoError(t, err)
		if _, err := p.Resume(first.Ticket, nil, map[string]json.RawMessage{"b1": nil}); !errors.Is(err, interaction.ErrUsed) {
			t.Errorf("the same round while the call goes on: %v", err)
		}
		out, err = k.Wait(t.Context())
		second := must(t, out, err)
		if second.Inputs[0].Key != "b2" || second.Ticket.ID != first.Ticket.ID {
			t.Fatalf("got %+v", second)
		}
		if _, err := p.Resume(first.Ticket, nil, map[string]json.RawMessage{"b2": nil}); !errors.Is(err, interaction.ErrUsed) {
			t.Errorf("the first round while the second is open: %v", err)
		}
		if k, err = p.Resume(second.Ticket, nil, map[string]json.RawMessage{"b2": json.RawMessage(`2`)}); err != nil {
			t.Fatal(err)
		}
		out, err = k.Wait(t.Context())
		if must(t, out, err); string(out.Result) != "12" || p.Waiting() != 0 {
			t.Errorf("got %s, %d wait", out.Result, p.Waiting())
		}
		if _, err := p.Resume(second.Ticket, nil, nil); !errors.Is(err, interaction.ErrLost) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// TestParkedTogether: questions that come together are asked together, and one
// that is left unanswered is asked again.
func TestParkedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		defer p.Close()
		k := p.Start(t.Context(), nil, nil, func(ctx context.Context, k *interaction.Call) (json.RawMessage, error) {
			var wg sync.WaitGroup
			var answers [2]json.RawMessage
			for i := range answers {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * 10 * time.Millisecond)
					answers[i], _ = k.Ask(ctx, "roots/list", nil)
				})
			}
			wg.Wait()
			return fmt.Appendf(nil, "%s+%s", answers[0], answers[1]), nil
		})
		out, err := k.Wait(t.Context())
		if must(t, out, err); len(out.Inputs) != 2 {
			t.Fatalf("got %+v", out)
		}
		k, err = p.Resume(out.Ticket, nil, map[string]json.RawMessage{"b2": json.RawMessage(`B`)})
		require.NoError(t, err)
		out, err = k.Wait(t.Context())
		if must(t, out, err); len(out.Inputs) != 1 || out.Inputs[0].Key != "b1" {
			t.Fatalf("got %+v", out)
		}
		k, _ = p.Resume(out.Ticket, nil, map[string]json.RawMessage{"b1": json.RawMessage(`A`)})
		out, err = k.Wait(t.Context())
		if must(t, out, err); string(out.Result) != "A+B" {
			t.Errorf("got %s", out.Result)
		}
	})
}

// TestParkedExpires: a client that does not come back has cancelled, and a call
// that goes on regardless is ended.
func TestParkedExpires(t *testing.T) {
	for name, stubborn := range map[string]bool{"ends": false, "goes on": true} {
		synctest.Test(t, func(t *testing.T) {
			p := interaction.NewSuspendedCalls(time.Minute)
			defer p.Close()
			ended := make(chan string, 1)
			k := p.Start(t.Context(), nil, nil, func(ctx context.Context, k *interaction.Call) (json.RawMessage, error) {
				r, err := k.Ask(ctx, "elicitation/create", nil)
				if stubborn {
					<-ctx.Done()
					err = deadline.Cause(ctx)
				}
				ended <- fmt.Sprint(string(r), err)
				return r, err
			})
			out, err := k.Wait(t.Context())
			must(t, out, err)
			begin := time.Now()
			got, want := <-ended, `{"action":"cancel"}<nil>`
			if stubborn {
				want = `{"action":"cancel"}the client did not come back with answers`
			}
			if took := time.Since(begin).Round(time.Second); got != want || took < time.Minute || took > time.Minute+time.Second {
				t.Errorf("%s: got %s after %v", name, got, took)
			}
			synctest.Wait()
			if _, err := p.Resume(out.Ticket, nil, nil); !errors.Is(err, interaction.ErrLost) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestParkedClientGoes: a client that gives up while it waits cancels the call;
// one that has its questions and is away does not.
func TestParkedClientGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		defer p.Close()
		ctx, cancel := context.WithCancel(t.Context())
		k := p.Start(t.Context(), nil, nil, asks("roots/list"))
		out, err := k.Wait(ctx)
		must(t, out, err)
		cancel()
		synctest.Wait()
		if p.Waiting() != 1 {
			t.Fatal("the call has ended with the request that it has answered")
		}
		ctx, cancel = context.WithCancel(t.Context())
		k, err = p.Resume(out.Ticket, nil, nil)
		require.NoError(t, err)
		cancel()
		if _, err := k.Wait(ctx); !errors.Is(err, context.Canceled) || p.Waiting() != 0 {
			t.Errorf("got %v, %d wait", err, p.Waiting())
		}
	})
}

// TestParkedOfExpelled: a call that waits for a client that cannot come back ends; one
// whose client is there does not, nor another's.
func TestParkedOfExpelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		defer p.Close()
		gone, stays := &access.Principal{ID: "p|gone"}, &access.Principal{ID: "p|stays"}
		ask := func(who *access.Principal) (*interaction.Call, interaction.Ticket) {
			k := p.Start(t.Context(), who, nil, asks("elicitation/create"))
			out, err := k.Wait(t.Context())
			must(t, out, err)
			return k, out.Ticket
		}
		_, lost := ask(gone)
		_, present := ask(gone)
		_, other := ask(stays)
		_, nobodys := ask(nil)
		k, err := p.Resume(present, nil, nil)
		require.NoError(t, err)
		p.Expel(func(p *access.Principal) bool { return p.ID == gone.ID })
		synctest.Wait()
		if _, err := p.Resume(lost, nil, nil); !errors.Is(err, interaction.ErrLost) || p.Waiting() != 3 {
			t.Errorf("got %v, %d wait", err, p.Waiting())
		}
		out, err := k.Wait(t.Context())
		must(t, out, err)
		for _, ticket := range []interaction.Ticket{other, nobodys} {
			_, err := p.Resume(ticket, nil, nil)
			require.NoError(t, err)
		}
	})
}

func TestParkedFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		defer p.Close()
		want := &runtime.Error{Code: runtime.CodeMissingCapability}
		k := p.Start(t.Context(), nil, nil, func(ctx context.Context, k *interaction.Call) (json.RawMessage, error) {
			k.Fail(want)
			<-ctx.Done()
			return json.RawMessage(`{}`), nil
		})
		if out, err := k.Wait(t.Context()); !errors.Is(err, want) {
			t.Errorf("got %+v, %v", out, err)
		}
	})
}

// TestParkedEvents: what the server sends goes to the request that is there.
func TestParkedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		defer p.Close()
		var got []string
		note := func(who string) func(string, []byte) {
			return func(m string, _ []byte) { got = append(got, who+m) }
		}
		k := p.Start(t.Context(), nil, note("1"), func(ctx context.Context, k *interaction.Call) (json.RawMessage, error) {
			k.Emit("a", nil)
			if _, err := k.Ask(ctx, "roots/list", nil); err != nil {
				return nil, err
			}
			k.Emit("c", nil)
			return nil, nil
		})
		out, err := k.Wait(t.Context())
		must(t, out, err)
		k.Emit("b", nil) // nobody is there
		k, _ = p.Resume(out.Ticket, note("2"), map[string]json.RawMessage{"b1": nil})
		out, err = k.Wait(t.Context())
		must(t, out, err)
		if fmt.Sprint(got) != "[1a 2c]" {
			t.Errorf("got %v", got)
		}
	})
}

func TestParkingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		for range 256 {
			out, err := p.Start(t.Context(), nil, nil, asks("roots/list")).Wait(t.Context())
			must(t, out, err)
		}
		if out, err := p.Start(t.Context(), nil, nil, asks("roots/list")).Wait(t.Context()); err == nil {
			t.Errorf("one more waits: %+v", out)
		}
		p.Close()
		if _, err := p.Start(t.Context(), nil, nil, asks()).Wait(t.Context()); !errors.Is(err, runtime.ErrClosed) || p.Waiting() != 0 {
			t.Errorf("after Close: %v, %d wait", err, p.Waiting())
		}
	})
}

// TestParkingShare: of a principal who lets calls wait without end the oldest ones end, and
// nobody else's.
func TestParkingShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		defer p.Close()
		ask := func(who string) interaction.Ticket {
			t.Helper()
			out, err := p.Start(t.Context(), &access.Principal{ID: who}, nil, asks("elicitation/create")).Wait(t.Context())
			return must(t, out, err).Ticket
		}
		alice := ask("alice")
		var bob []interaction.Ticket
		for range 300 {
			bob = append(bob, ask("bob"))
		}
		second := ask("alice")
		for _, ticket := range []interaction.Ticket{alice, second, bob[len(bob)-1]} {
			_, err := p.Resume(ticket, nil, nil)
			require.NoError(t, err)
		}
		if _, err := p.Resume(bob[0], nil, nil); !errors.Is(err, interaction.ErrLost) || p.Waiting() != 256 {
			t.Errorf("bob's oldest: %v, %d wait", err, p.Waiting())
		}
	})
}

// TestParkedAtShutdown: a server that asks while the lot is closing is told so, not that too
// many calls wait.
func TestParkedAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		var delayed error
		closing := make(chan struct{})
		p.Start(t.Context(), nil, nil, func(_ context.Context, k *interaction.Call) (json.RawMessage, error) {
			<-closing
			_, delayed = k.Ask(t.Context(), "roots/list", nil)
			return nil, delayed
		})
		go p.Close()
		synctest.Wait()
		close(closing)
		p.Close()
		if !errors.Is(delayed, runtime.ErrClosed) {
			t.Errorf("got %v, want %v", delayed, runtime.ErrClosed)
		}
	})
}

// TestParkedCallHasEnded: a question that comes when the call has ended is
// nobody's: it waits for nothing, and takes no place.
func TestParkedCallHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interaction.NewSuspendedCalls(0)
		defer p.Close()
		var parked *interaction.Call
		during := make(chan error, 1)
		k := p.Start(t.Context(), nil, nil, func(_ context.Context, k *interaction.Call) (json.RawMessage, error) {
			parked = k
			go func() { // whose question it is does not end with the call
				_, err := k.Ask(t.Context(), "roots/list", nil)
				during <- err
			}()
			time.Sleep(time.Millisecond)
			return json.RawMessage(`1`), nil
		})
		if out, err := k.Wait(t.Context()); err != nil || string(out.Result) != "1" {
			t.Errorf("got %+v, %v", out, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		if _, err := parked.Ask(ctx, "roots/list", nil); !errors.Is(err, interaction.ErrLost) {
			t.Errorf("after the end: %v", err)
		}
		if err := <-during; !errors.Is(err, interaction.ErrLost) {
			t.Errorf("at the end: %v", err)
		}
		if time.Since(start) > time.Second || p.Waiting() != 0 {
			t.Errorf("after %v %d calls wait", time.Since(start), p.Waiting())
		}
	})
}
