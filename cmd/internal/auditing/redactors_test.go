package auditing_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// TestRedactors: a body is cleaned with what all connections to its server have that may be
// about its principal. A redactor that a connection has is found for as long as it has it.
func TestRedactors(t *testing.T) {
	t.Parallel()
	r := &auditing.Redactors{}
	text := func(server, principal string) string {
		clean, ok := r.Clean(server, principal, []byte(`"of-everybody of-alice of-bob"`))
		return fmt.Sprint(string(clean), " ", ok)
	}
	if got := text("gh", "token|alice"); got != `"of-everybody of-alice of-bob" false` {
		t.Errorf("without a connection: %s", got)
	}
	alice := r.Of("gh", "token|alice")
	alice.Add(secret.New("of-alice"))
	r.Of("gh", access.Local).Add(secret.New("of-everybody"))
	r.Of("gh", "token|bob").Add(secret.New("of-bob"))
	for principal, want := range map[string]string{
		"token|alice": `"[redacted] [redacted] of-bob" true`, "token|carol": `"[redacted] of-alice of-bob" true`, access.Local: `"[redacted] of-alice of-bob" true`,
	} {
		if got := text("gh", principal); got != want {
			t.Errorf("%s: got %s, want %s", principal, got, want)
		}
	}
	r.Learned("gh", "token|alice", 1)
	if r.Has("gh", "token|alice", 2) || r.Has("gh", "token|bob", 1) || r.Has("fs", "", nil) || !r.Has("gh", "token|alice", 1) {
		t.Error("what was learned is something else")
	}
	for i := range 5000 {
		r.Of("gh", fmt.Sprint("token|", i))
	}
	runtime.GC()
	r.Of("gh", "token|one more")
	if got := text("gh", "token|alice"); !strings.Contains(got, " [redacted] of-bob") {
		t.Errorf("after many others: got %s", got)
	}
	if r.Of("gh", "token|alice") != alice {
		t.Error("a connection's redactor is another one")
	}
	runtime.KeepAlive(alice)
}
