package ui_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

func TestNobodyToAsk(t *testing.T) {
	var out, errOut bytes.Buffer
	u := ui.New(strings.NewReader("y\n"), &out, &errOut)
	asker := u.Asker()
	silent, ok := asker.(*ui.NonInteractive)
	if !ok {
		t.Fatalf("got %T without a terminal, want *NonInteractive", asker)
	}
	if err := silent.Missing(); err != nil {
		t.Errorf("before any question: got %v", err)
	}
	ctx := context.Background()
	_, err1 := asker.Select(ctx, ui.Question{Message: "which one", Flag: "--package TYPE"}, []string{"a"})
	_, err2 := asker.Input(ctx, ui.Question{Message: "a name", Flag: "--as ALIAS"})
	_, err3 := asker.Confirm(ctx, ui.Question{Message: "sure"})
	_, err4 := asker.MultiSelect(ctx, ui.Question{Message: "several"}, []string{"a"})
	for _, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, ui.ErrNoAnswer) {
			t.Errorf("got %v, want ErrNoAnswer", err)
		}
	}
	err := silent.Missing()
	var missing *ui.MissingAnswersError
	if !errors.As(err, &missing) || missing.ExitKind() != "usage" {
		t.Fatalf("got %v, want a usage error", err)
	}
	want := "there is no terminal to ask on, and this is not decided: which one (--package TYPE); a name (--as ALIAS); sure; several"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if out.Len()+errOut.Len() > 0 {
		t.Errorf("something was drawn: %q %q", out.String(), errOut.String())
	}
}

func TestNoInputForbidsQuestions(t *testing.T) {
	u := &ui.UI{InTTY: true, ErrTTY: true, NoInput: true}
	if _, ok := u.Asker().(*ui.NonInteractive); !ok {
		t.Error("a question would be asked in spite of --no-input")
	}
}

func TestScripted(t *testing.T) {
	ctx := context.Background()
	s := &ui.Scripted{Answers: []any{"b", "text", false, context.Canceled, "none", "bad", 7}}
	if i, err := s.Select(ctx, ui.Question{}, []string{"a", "bee"}); i != 1 || err != nil {
		t.Errorf("got %d %v, want 1", i, err)
	}
	if text, err := s.Input(ctx, ui.Question{}); text != "text" || err != nil {
		t.Errorf("got %q %v", text, err)
	}
	if yes, err := s.Confirm(ctx, ui.Question{}); yes || err != nil {
		t.Errorf("got %v %v", yes, err)
	}
	if _, err := s.Input(ctx, ui.Question{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the error", err)
	}
	if _, err := s.Select(ctx, ui.Question{}, []string{"a"}); err == nil {
		t.Error("an option that is not there was chosen")
	}
	fault := errors.New("no")
	if _, err := s.Input(ctx, ui.Question{Check: func(string) error { return fault }}); !errors.Is(err, fault) {
		t.Errorf("got %v, want the check's error", err)
	}
	for range 2 { // an answer of the wrong kind, then none
		if _, err := s.Confirm(ctx, ui.Question{}); err == nil {
			t.Error("got no error")
		}
	}
}
