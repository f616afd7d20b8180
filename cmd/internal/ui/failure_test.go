package ui_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

func TestKind(t *testing.T) {
	t.Parallel()
	plain := errors.New("x")
	for _, tt := range []struct {
		err  *ui.Error
		want string
	}{
		{ui.Usage("%w", plain), "usage"},
		{&ui.Error{Kind: "connect", Err: ui.Usage("x")}, "connect"},
		{&ui.Error{Err: fmt.Errorf("y: %w", ui.Usage("x"))}, "usage"},
		{&ui.Error{Err: plain}, ""},
	} {
		if got := tt.err.ExitKind(); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
	e := ui.Usage("x %w", plain).WithHint("try %d", 1)
	if ui.HintOf(plain) != "" || ui.HintOf(fmt.Errorf("y: %w", e)) != "try 1" {
		t.Error("a hint is lost, or made up")
	}
	if e.Error() != "x x" || !errors.Is(e, plain) || e.Hint() != "try 1" {
		t.Errorf("got %q, %q", e.Error(), e.Hint())
	}
}
