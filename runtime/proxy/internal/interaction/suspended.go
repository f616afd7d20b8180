package interaction

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/workers"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

const (
	// maxCalls bounds the calls that wait at one time. Beyond it the oldest of the principal
	// with the most ends; where nobody says who they are, a call cannot ask.
	maxCalls = 256
	// collectTime is how long further questions of a call are waited for, so that a
	// person is asked once: servers ask several things side by side.
	collectTime = 20 * time.Millisecond
	// endGrace is how long a call may take to end by itself once its
	// questions have been answered with "cancel".
	endGrace = time.Second
)

var (
	// ErrLost is that the call has ended, or another process held it.
	ErrLost = errors.New("the interaction is not known any more")
	// ErrUsed is that each round of questions is answered once.
	ErrUsed = errors.New("these questions have been answered already")
	// errFull answers a server's question where too many calls wait.
	errFull = &runtime.Error{Code: runtime.CodeInternalError, Message: "too many calls wait for an answer of a person"}
	// errNotAnswered ends a call whose client did not come back.
	errNotAnswered = errors.New("the client did not come back with answers")
)

// SuspendedCalls holds calls of clients that cannot be asked in the middle of a request
// (2026-07-28, Multi round-trip requests) to servers that ask there. A call goes on
// while its client is away, until the client returns with the answers or time is
// over. All methods may be called concurrently.
//
// SuspendedCalls owns the goroutine of each call, which Close waits for, and one timer per round of
// questions. The lock of a Call is taken before that of its SuspendedCalls, and both are held for memory
// work only.
type SuspendedCalls struct {
	ttl  time.Duration
	work workers.Pool // the calls

	mu     sync.Mutex // guards what follows; taken after a Call's, never before
	calls  map[string]*Call
	orders uint64 // ever given
	closed bool
}

// NewSuspendedCalls returns none. ttl is how long a client may stay away; 0 is
// [seal.StateTTL].
func NewSuspendedCalls(ttl time.Duration) *SuspendedCalls {
	if ttl == 0 {
		ttl = seal.StateTTL
	}
	return &SuspendedCalls{ttl: ttl, calls: map[string]*Call{}}
}

// Close ends all calls and waits for them. Later ones end at once.
func (p *SuspendedCalls) Close() {
	p.work.Refuse()
	p.mu.Lock()
	p.closed = true
	all := slices.Collect(maps.Values(p.calls))
	p.mu.Unlock()
	for _, k := range all {
		k.scope.End(runtime.ErrClosed)
	}
	p.work.Close()
}

// Expel ends the calls of those for whom gone reports true, where they wait: their
// clients cannot come back. What a client is waiting for goes on.
func (p *SuspendedCalls) Expel(gone func(*access.Principal) bool) {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.calls))
	p.mu.Unlock()
	for _, k := range all {
		if k.owner != nil && gone(k.owner) {
			k.expireNow()
		}
	}
}

// Waiting returns how many calls wait for their client.
func (p *SuspendedCalls) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls)
}

// Capacity returns how many calls may wait at a time.
func (p *SuspendedCalls) Capacity() int { return maxCalls }

// Input is one question of a call, as an entry of inputRequests.
type Input struct {
	Key    string // unique in the call's life: b1, b2, …
	Method string
	Params json.RawMessage // nil for none
}

// Ticket identifies a call and a round of its questions. It is to be sealed before
// it leaves the process.
type Ticket struct {
	ID    string `json:"id"`
	Round int    `json:"round"`
}

// Call is one call. Its client is present while Wait runs.
type Call struct {
	p     *SuspendedCalls
	id    string
	owner *access.Principal
	order uint64         // of its first question, guarded by the lot
	scope deadline.Scope // its context
	done  chan struct{}  // closed when the call has ended

	how ending // read after done

	mu          sync.Mutex // guards what follows
	round       int
	asked       int
	ended       bool
	open        []*question
	expiryTimer *time.Timer
	emit        func(method string, params []byte) // of the present client, nil for none
	failure     error                              // ends the call whatever it returns, nil for its own result
	newQuestion chan struct{}                      // has one place
}

// ending is how a call has ended.
type ending struct {
	result json.RawMessage
	err    error
}

// question is one that the client has not answered.
type question struct {
	Input
	answer chan reply // has one place
}

type reply struct {
	result json.RawMessage
	err    error
}

// Start runs a call under ctx, which is not that of a client's request: the call
// goes on between them. owner is whose it is, nil for nobody in particular. run must return when its context ends. emit, which may be
// nil and must not wait, is called with what the server sends until Wait returns.
func (p *SuspendedCalls) Start(ctx context.Context, owner *access.Principal, emit func(method string, params []byte), run func(ctx context.Context, k *Call) (json.RawMessage, error)) *Call {
	k := &Call{p: p, id: rand.Text(), owner: owner, done: make(chan struct{}), newQuestion: make(chan struct{}, 1), emit: emit}
	k.scope.Start(ctx)
	if !p.work.Go(func() { // waited for by Close
		defer k.scope.End(nil)
		result, err := run(&k.scope, k)
		k.end(result, err)
	}) {
		k.how.err = runtime.ErrClosed
		k.scope.End(runtime.ErrClosed)
		close(k.done)
	}
	return k
}

func (k *Call) end(result json.RawMessage, err error) {
	k.mu.Lock()
	k.ended = true
	k.how = ending{result, err}
	if k.failure != nil {
		k.how = ending{err: k.failure}
	}
	if k.expiryTimer != nil {
		k.expiryTimer.Stop()
	}
	k.mu.Unlock()
	k.p.unregister(k.id)
	close(k.done)
}

func (p *SuspendedCalls) unregister(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, id)
}

// Emit passes a notification of the call to its client, if that is present.
func (k *Call) Emit(method string, params []byte) {
	k.mu.Lock()
	emit := k.emit
	k.mu.Unlock()
	if emit != nil {
		emit(method, params)
	}
}

// Fail ends the call with an error, whatever it returns.
func (k *Call) Fail(err error) {
	k.mu.Lock()
	if k.failure == nil {
		k.failure = err
	}
	k.mu.Unlock()
	k.scope.End(err)
}

// Ask puts a question of the server to the client and waits for the answer,
// however often the client returns without it. The error is ErrLost once the call
// has ended, [runtime.ErrClosed] once the lot is closed.
func (k *Call) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := &question{answer: make(chan reply, 1)}
	if err := k.p.admit(k); err != nil {
		return nil, err
	}
	k.mu.Lock()
	if k.ended {
		k.mu.Unlock()
		k.p.unregister(k.id)
		return nil, ErrLost
	}
	k.asked++
	q.Input = Input{"b" + strconv.Itoa(k.asked), method, append(json.RawMessage(nil), params...)}
	k.open = append(k.open, q)
	k.mu.Unlock()
	select {
	case k.newQuestion <- struct{}{}:
	default:
	}
	defer k.removeQuestion(q)
	select {
	case r := <-q.answer:
		return r.result, r.err
	case <-ctx.Done(): // the server has taken its question back, or the call has ended
		return nil, deadline.Cause(ctx)
	case <-k.done: // ctx may live longer
		return nil, ErrLost
	}
}

// admit lets clients resume the call, unless no more can wait.
func (p *SuspendedCalls) admit(k *Call) error {
	err := p.register(k)
	if !errors.Is(err, errFull) {
		return err
	}
	for _, old := range p.yielding(k) {
		if old.expireNow() {
			if err = p.register(k); !errors.Is(err, errFull) {
				return err
			}
		}
	}
	return err
}

func (p *SuspendedCalls) register(k *Call) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return runtime.ErrClosed
	case p.calls[k.id] != nil:
		return nil
	case len(p.calls) >= maxCalls:
		return errFull
	}
	p.orders++
	k.order = p.orders
	p.calls[k.id] = k
	return nil
}

// yielding returns the calls one of which makes room for another, the oldest first.
func (p *SuspendedCalls) yielding(newcomer *Call) []*Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := map[string]int{}
	for _, k := range p.calls {
		held[k.owner.Key()]++
	}
	payer := limits.Payer(held, newcomer.owner.Key())
	var all []*Call
	for _, k := range p.calls {
		if k.owner != nil && k.owner.Key() == payer {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *Call) int { return cmp.Compare(a.order, b.order) })
	return all
}

func (k *Call) removeQuestion(q *question) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.Index(k.open, q); i >= 0 {
		k.open = slices.Delete(slices.Clone(k.open), i, i+1)
	}
}

// Outcome is the state of a call when its client's request ends: its result, or
// questions.
type Outcome struct {
	Result json.RawMessage // nil where the call asks
	Inputs []Input         // at least one where it does
	Ticket Ticket          // of the Inputs, for Resume
}

// Wait waits, for a request of the client, until the call ends, asks, or ctx ends,
// which cancels the call. It is to be called once after Start and each Resume.
func (k *Call) Wait(ctx context.Context) (Outcome, error) {
	k.mu.Lock()
	asks := len(k.open) > 0
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.emit = nil
	}()
	for {
		if asks {
			if out, ok := k.collect(ctx); ok {
				return out, nil
			}
		}
		select {
		case <-k.done:
			return Outcome{Result: k.how.result}, k.how.err
		case <-k.newQuestion:
			asks = true
		case <-ctx.Done():
			k.scope.End(deadline.Cause(ctx))
			<-k.done
			return Outcome{}, ctx.Err()
		}
	}
}

// collect waits for questions that come together and starts their round; false
// where there are none any more.
func (k *Call) collect(ctx context.Context) (Outcome, bool) {
	t := time.NewTimer(collectTime)
	defer t.Stop()
	select {
	case <-t.C:
	case <-k.done:
		return Outcome{}, false
	case <-ctx.Done():
		return Outcome{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	select { // they are all in k.open
	case <-k.newQuestion:
	default:
	}
	if len(k.open) == 0 || k.failure != nil {
		return Outcome{}, false
	}
	k.round++
	out := Outcome{Ticket: Ticket{k.id, k.round}}
	for _, q := range k.open {
		out.Inputs = append(out.Inputs, q.Input)
	}
	round := k.round
	k.expiryTimer = time.AfterFunc(k.p.ttl, func() { k.expire(round) })
	return out, true
}

// expire ends a call whose client has not answered a round: people have "cancelled",
// other questions fail, and a server that goes on regardless is cancelled.
func (k *Call) expire(round int) {
	k.mu.Lock()
	if k.round != round {
		k.mu.Unlock()
		return
	}
	k.round++ // nobody can answer now
	for _, q := range k.open {
		r := reply{err: &runtime.Error{Code: runtime.CodeInternalError, Message: errNotAnswered.Error()}}
		if q.Method == revision.MethodElicitationCreate {
			r = reply{result: json.RawMessage(`{"action":"cancel"}`)}
		}
		q.answer <- r
	}
	k.open = nil
	k.expiryTimer = time.AfterFunc(endGrace, func() { k.scope.End(errNotAnswered) })
	k.mu.Unlock()
	k.p.unregister(k.id)
}

// expireNow is expire where a round waits for its client, and reports whether one does.
func (k *Call) expireNow() bool {
	k.mu.Lock()
	round, waits := k.round, k.expiryTimer != nil && k.expiryTimer.Stop()
	k.mu.Unlock()
	if waits {
		k.expire(round)
	}
	return waits
}

// Resume passes a client's answers, by key, to the call of a ticket. Wait asks
// questions without an answer again; answers without a question are ignored. emit
// is as with Start. The error is ErrLost or ErrUsed.
func (p *SuspendedCalls) Resume(t Ticket, emit func(method string, params []byte), answers map[string]json.RawMessage) (*Call, error) {
	p.mu.Lock()
	k := p.calls[t.ID]
	p.mu.Unlock()
	if k == nil {
		return nil, ErrLost
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.round != t.Round || k.expiryTimer == nil || !k.expiryTimer.Stop() {
		return nil, ErrUsed
	}
	k.expiryTimer, k.emit = nil, emit
	k.open = slices.DeleteFunc(slices.Clone(k.open), func(q *question) bool {
		a, ok := answers[q.Key]
		if ok {
			q.answer <- reply{result: a}
		}
		return ok
	})
	return k, nil
}
