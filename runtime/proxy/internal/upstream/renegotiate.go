package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"

	"context"
	"errors"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

const (
	// doubtEvery is how often a connection is made anew because of what the
	// server says: one that goes on saying so is taken at its word.
	doubtEvery = time.Minute
	// retirePoll is how often a connection that was replaced is looked at, to be
	// closed once the calls over it have ended.
	retirePoll = 250 * time.Millisecond
)

// isSuspicious tells whether a call has failed because the server is no longer the
// one that was connected to. The bridge finds that out: where the server has
// forgotten the session and does not start another like it, or does not speak
// the revision; and it looks whether one of the stateless era is still of that.
// One with a handshake may also be another one that does not know a method of
// what it offers. It has not acted on the call then. A process cannot become
// another one while its streams are open.
func (c *Conn) isSuspicious(method string, err error) bool {
	if _, ok := errors.AsType[*bridge.SessionError](err); ok {
		return true
	}
	rpc, ok := errors.AsType[*runtime.Error](err)
	return ok && c.remote && !c.Modern() && rpc.Code == runtime.CodeMethodNotFound && c.Client.Info().Has(capabilityOf(method))
}

// capabilityOf is the capability of a server that has a method, "" for others.
func capabilityOf(method string) string {
	switch method {
	case revision.MethodToolsCall:
		return "tools"
	case revision.MethodPromptsGet:
		return "prompts"
	case revision.MethodResourcesRead:
		return "resources"
	case revision.MethodComplete:
		return "completions"
	}
	return ""
}

// suspect takes a connection out of use, so that the next call makes a new one and
// finds the era out again; calls in flight over it go on. It reports false where
// that was done a moment ago.
func (l *Slot) suspect(c *Conn) bool {
	b := l.Backend
	b.Mu.Lock()
	defer b.Mu.Unlock()
	switch {
	case b.closed:
		return false
	case l.Ready.Load() != c:
		return true // another call has done so
	case time.Since(l.suspectedAt) < doubtEvery:
		return false
	}
	l.Ready.Store(nil)
	l.suspectedAt = time.Now()
	b.publishFastPath()
	b.Set.Work.Go(func() { c.drain(b.Set.Lifetime) })
	return true
}

// drain closes a connection once nobody uses it.
func (c *Conn) drain(ctx context.Context) {
	t := time.NewTicker(retirePoll)
	defer t.Stop()
	for end := time.Now().Add(limits.RequestCeiling); !c.CloseIfIdle() && time.Now().Before(end); {
		select {
		case <-t.C:
		case <-ctx.Done():
			_ = c.Client.Close()
			return
		}
	}
	_ = c.Client.Close()
}

// ownError gives a failure to connect as one of ours: what a server answers to the
// handshake is no answer to the client's request.
func ownError(err error) error {
	if _, ok := errors.AsType[*runtime.Error](err); ok {
		return errors.New(err.Error())
	}
	return err
}
