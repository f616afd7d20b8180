package deadline

import (
	"context"
	"errors"
	"fmt"
)

// WithCause returns an error, which the end of a context has led to, with the cause of
// that end: who has cancelled with one looks for it. Any other error is returned as it
// is.
func WithCause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	if cause := Cause(ctx); !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// Err is the error of a context that has ended, with its cause; nil for one that has
// not.
func Err(ctx context.Context) error { return WithCause(ctx, ctx.Err()) }
