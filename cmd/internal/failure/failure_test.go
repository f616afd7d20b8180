package failure_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/failure"
)

func TestKind(t *testing.T) {
	t.Parallel()
	plain := errors.New("x")
	for _, tt := range []struct {
		err  *failure.Error
		want string
	}{
		{failure.Usage("%w", plain), "usage"},
		{&failure.Error{Kind: "connect", Err: failure.Usage("x")}, "connect"},
		{&failure.Error{Err: fmt.Errorf("y: %w", failure.Usage("x"))}, "usage"},
		{&failure.Error{Err: plain}, ""},
	} {
		if got := tt.err.ExitKind(); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
	e := failure.Usage("x %w", plain).WithHint("try %d", 1)
	if failure.HintOf(plain) != "" || failure.HintOf(fmt.Errorf("y: %w", e)) != "try 1" {
		t.Error("a hint is lost, or made up")
	}
	if e.Error() != "x x" || !errors.Is(e, plain) || e.Hint() != "try 1" {
		t.Errorf("got %q, %q", e.Error(), e.Hint())
	}
}
