package deadline

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestWithCause: an error of a context that has ended matches both the context's error
// and the cause, and no other error is touched.
func TestWithCause(t *testing.T) {
	cause, other := errors.New("the user has gone"), errors.New("refused")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	bare, stop := context.WithCancel(t.Context())
	stop()
	overdue, end := context.WithDeadlineCause(t.Context(), time.Now().Add(-time.Second), cause)
	defer end()
	below, under := context.WithCancel(cancelled)
	defer under()
	for _, tt := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // a case
		err  error
		want string
		is   []error
	}{
		{"nil", cancelled, nil, "<nil>", nil},
		{"another error", cancelled, other, "refused", nil},
		{"not ended", t.Context(), context.Canceled, "context canceled", nil},
		{"cancelled", cancelled, context.Canceled, "context canceled: the user has gone", []error{context.Canceled, cause}},
		{"wrapped", cancelled, fmt.Errorf("call: %w", context.Canceled), "call: context canceled: the user has gone", []error{context.Canceled, cause}},
		{"there already", cancelled, fmt.Errorf("%w: %w", cause, context.Canceled), "the user has gone: context canceled", []error{context.Canceled, cause}},
		{"without a cause", bare, context.Canceled, "context canceled", []error{context.Canceled}},
		{"late", overdue, context.DeadlineExceeded, "context deadline exceeded: the user has gone", []error{context.DeadlineExceeded, cause}},
		{"a child", below, context.Canceled, "context canceled: the user has gone", []error{context.Canceled, cause}},
	} {
		got := WithCause(tt.ctx, tt.err)
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, got, tt.want)
		}
		for _, is := range tt.is {
			if !errors.Is(got, is) {
				t.Errorf("%s: %v is no %v", tt.name, got, is)
			}
		}
	}
}
