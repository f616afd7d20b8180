package stdioserver

import (
	"context"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

// opening is closed when initialize is answered; nil: nothing waits for that.
type opening chan struct{}

// over reports that no request has to wait for the answer to initialize.
func (o opening) over() bool {
	if o == nil {
		return true
	}
	select {
	case <-o:
		return true
	default:
		return false
	}
}

// wait returns when no request has to wait any more, or ctx ends.
func (o opening) wait(ctx context.Context) {
	if o == nil {
		return
	}
	select {
	case <-o:
	case <-ctx.Done():
	}
}

// sending are requests that the server may not have been sent yet.
type sending []opening

// add notes a request, until what ctx belongs to is sent, or done is called.
func (s *sending) add(ctx context.Context, done func()) (context.Context, func()) {
	r := &sent{opening: make(opening)}
	*s = append(slices.DeleteFunc(*s, opening.over), r.opening)
	return deadline.WithValues(ability.WithSent(ctx, r.note), ctx), func() {
		r.note()
		done()
	}
}

// sent is one of them.
type sent struct {
	once sync.Once
	opening
}

func (r *sent) note() { r.once.Do(func() { close(r.opening) }) }

// wait returns once all of them are sent, or have no need to be, or time is up.
func (s *sending) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, limits.NotifyTime)
	defer cancel()
	for _, one := range *s {
		one.wait(ctx)
	}
	*s = nil
}
