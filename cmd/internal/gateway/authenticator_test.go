package gateway

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// expelled counts how often streams are looked at, and whether one has to end.
type expelled struct {
	who  *access.Principal
	gone atomic.Bool
}

func (e *expelled) Expel(gone func(*access.Principal) bool) {
	if gone(e.who) {
		e.gone.Store(true)
	}
}

// TestAuthenticatorFollows: a token counts as soon as it is there, and streams end when it is
// revoked, not before.
func TestAuthenticatorFollows(t *testing.T) {
	t.Parallel()
	f := authn.NewTokenFile(filepath.Join(t.TempDir(), authn.TokenFileName))
	tokens := f.FollowTokens()
	d := &authenticator{Authenticator: authn.NewAuthenticator(tokens), tokens: tokens, book: NewVisitorBook(), log: slog.New(slog.DiscardHandler)}
	set := func(all ...access.Token) {
		t.Helper()
		require.NoError(t, f.Change(t.Context(), func([]access.Token) ([]access.Token, error) { return all, nil }))
	}
	one, text := access.NewToken("alice", nil, time.Now(), time.Time{})
	if p, no := d.Who(t.Context(), access.Credential{Bearer: text}); p != nil || no.Status != 401 {
		t.Errorf("got %v, %v", p, no)
	}
	set(one)
	p, no := d.Who(t.Context(), access.Credential{Bearer: text})
	if no != nil || p.ID != "token|alice" {
		t.Fatalf("got %v, %v", p, no)
	}
	streams := &expelled{who: p}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := &gateway{h: Host{Log: slog.New(slog.DiscardHandler), UI: &ui.UI{Err: io.Discard}}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.follow(ctx, g, streams)
	}()
	other, _ := access.NewToken("alice", nil, time.Now(), time.Time{})
	set(other, one)
	time.Sleep(3 * tokensPoll)
	if streams.gone.Load() {
		t.Error("streams end though their token is there")
	}
	set(other) // whoever had the other one may have opened them
	wait.Until(t, "the end of the streams", streams.gone.Load)
	if _, no := d.Who(t.Context(), access.Credential{Bearer: text}); no == nil || no.Status != 401 {
		t.Errorf("revoked: got %v", no)
	}
	cancel()
	<-done
}
