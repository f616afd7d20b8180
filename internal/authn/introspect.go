package authn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/singleflight"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/jwt"
	"github.com/mcpctl/mcpctl/internal/secret"
)

const (
	// acceptedTime and refusedTime bound how long an answer is remembered.
	acceptedTime, refusedTime = time.Minute, 10 * time.Second
	// askTime bounds a question.
	askTime = 5 * time.Second
	// maxToken bounds a token that is asked about, in bytes.
	maxToken = 16 << 10
	// maxAsking bounds the questions at once, and maxRefused the tokens that are refused
	// in refusedTime. Beyond either, new tokens cannot be checked: whoever sends tokens
	// does not decide how much the issuer is asked.
	maxAsking, maxRefused = 16, 100
	// liveCheck is how often those with streams are looked at, and maxLive bounds them.
	liveCheck, maxLive = 10 * time.Second, 10_000
)

// errType is that a token is none that lets somebody in.
var errType = &access.Refusal{Status: 401, Code: "invalid_token", Description: "the token is not an access token", Reason: "typ"}

// IntrospectionRequest asks an issuer about a token, and returns the status and the body of the answer.
type IntrospectionRequest func(ctx context.Context, token string) (status int, body []byte, err error)

// Introspection makes principals of what an issuer says of tokens. It implements
// [authn.Provider], and is safe for concurrent use.
type Introspection struct {
	rules   jwt.Rules
	ask     IntrospectionRequest
	log     *slog.Logger
	seen    *jwt.TokenCache[*answer]
	flights singleflight.Group
	asking  chan struct{}   // a place for each question
	ctx     context.Context //nolint:containedctx // of questions, which several requests wait for
	stop    context.CancelFunc

	mu      sync.Mutex // guards what follows
	failure error      // why the last question had no answer, nil if it had
	window  time.Time  // when refused began to be counted
	refused int
	live    map[*access.Principal]*life
}

// answer is what the issuer has said of a token. It is immutable.
type answer struct {
	principal *access.Principal // nil for a refusal
	bound     *jwt.Binding
	refusal   *access.Refusal
	until     time.Time
}

// life is a principal that may have streams.
type life struct {
	token   string
	asked   time.Time // when the issuer has said yes last
	wanted  time.Time // when Valid was asked last
	refused bool
}

// NewIntrospection returns a provider of principals of the kind that rules have. Its Run must run: it
// ends what the provider has begun.
func NewIntrospection(rules jwt.Rules, ask IntrospectionRequest, log *slog.Logger) *Introspection {
	p := &Introspection{rules: rules, ask: ask, log: log, seen: jwt.NewTokenCache[*answer](), asking: make(chan struct{}, maxAsking), live: map[*access.Principal]*life{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Kind implements [authn.Provider].
func (p *Introspection) Kind() string { return p.rules.Kind }

// isToken reports whether a text has the form of a token (RFC 6750, 2.1) and is not a
// static one.
func isToken(text string) bool {
	if text == "" || len(text) > maxToken || access.IsToken(text) {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '~', c == '+', c == '/', c == '=':
		default:
			return false
		}
	}
	return true
}

// Principal implements [authn.Provider]: a credential is for the provider if it is any
// token but a static one.
func (p *Introspection) Principal(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	now := time.Now()
	a, ok := p.seen.Find(c.Bearer)
	if !ok && !isToken(c.Bearer) {
		return nil, nil
	}
	if !ok || !now.Before(a.until) {
		if a = p.wait(ctx, c.Bearer); a == nil {
			return nil, access.ErrUnavailable
		}
	}
	if a.refusal != nil {
		return nil, a.refusal
	}
	if a.principal.Expired(now) {
		return nil, access.ErrExpired
	}
	if refusal := a.bound.Check(c.Certificate); refusal != nil {
		return nil, refusal
	}
	return a.principal, nil
}

// wait returns what the issuer says of a token, nil for nothing. Those who have the same
// token wait for one question.
func (p *Introspection) wait(ctx context.Context, token string) *answer {
	if p.tooMany(time.Now()) {
		return nil
	}
	done := p.flights.DoChan(token, func() (any, error) { return p.question(token), nil })
	select {
	case r := <-done:
		a, _ := r.Val.(*answer) // nil for none
		return a
	case <-ctx.Done():
		return nil
	}
}

// question asks about a token, and remembers the answer; nil for none.
func (p *Introspection) question(token string) *answer {
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(p.ctx, askTime)
	defer cancel()
	status, body, err := p.ask(ctx, token)
	if err == nil && status != 200 {
		err = fmt.Errorf("it answers HTTP %d", status)
	}
	var said struct {
		Active bool   `json:"active"`
		Type   string `json:"token_type"`
	}
	if err == nil && json.Unmarshal(body, &said) != nil {
		err = errors.New("it does not answer in the JSON of RFC 7662")
	}
	p.report(err)
	if err != nil {
		return nil
	}
	now := time.Now()
	a := &answer{until: now.Add(acceptedTime)}
	switch {
	case !said.Active:
		a.refusal = access.ErrUnknownToken
	case said.Type != "" && !strings.EqualFold(said.Type, "Bearer") && !strings.EqualFold(said.Type, "access_token"):
		a.refusal = errType
	default:
		a.principal, a.bound, a.refusal = p.rules.Claims(body, now)
	}
	p.seen.Keep(token, p.settle(token, a, now))
	return a
}

// settle notes what follows of an answer: who may have streams, or how many tokens are
// refused.
func (p *Introspection) settle(token string, a *answer, now time.Time) *answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.refusal != nil {
		a.until = now.Add(refusedTime)
		if now.Sub(p.window) >= refusedTime {
			p.window, p.refused = now, 0
		}
		p.refused++
		return a
	}
	l := &life{token: token, asked: now}
	a.principal.Proof = l
	if len(p.live) >= maxLive {
		maps.DeleteFunc(p.live, func(caller *access.Principal, l *life) bool {
			return caller.Expired(now) || now.Sub(l.wanted) > acceptedTime
		})
	}
	if len(p.live) < maxLive { // others end with their tokens
		p.live[a.principal] = l
	}
	return a
}

// tooMany reports whether so many tokens were refused of late that no new one is asked
// about.
func (p *Introspection) tooMany(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused >= maxRefused && now.Sub(p.window) < refusedTime
}

// report logs that the issuer does not answer, or answers again.
func (p *Introspection) report(err error) {
	p.mu.Lock()
	changed := (err != nil) != (p.failure != nil)
	p.failure = err
	p.mu.Unlock()
	switch {
	case !changed:
	case err != nil:
		p.log.Warn("an issuer cannot be asked about tokens", "issuer", p.rules.Issuer, "err", err)
	default:
		p.log.Info("an issuer answers about tokens", "issuer", p.rules.Issuer)
	}
}

// Failure returns why the last question had no answer, nil where it had.
func (p *Introspection) Failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// Valid implements [authn.Provider]: the token has not ended, and the issuer has not said
// no when it was asked again.
func (p *Introspection) Valid(principal *access.Principal) bool {
	now := time.Now()
	l, ok := principal.Proof.(*life)
	if !ok || principal.Expired(now) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.wanted = now
	return !l.refused
}

// Run asks again, each minute, about the tokens of those whom Valid is asked about, until
// ctx ends. It returns when all questions have ended.
func (p *Introspection) Run(ctx context.Context) {
	tick := time.NewTicker(liveCheck)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.again(ctx, time.Now())
		case <-ctx.Done():
			p.stop()
			for range maxAsking { // a place is free when its question has ended
				p.asking <- struct{}{}
			}
			return
		}
	}
}

// again asks about the tokens whose answers are too old.
func (p *Introspection) again(ctx context.Context, now time.Time) {
	due := map[*access.Principal]*life{}
	p.mu.Lock()
	maps.DeleteFunc(p.live, func(caller *access.Principal, _ *life) bool { return caller.Expired(now) })
	for caller, l := range p.live {
		if now.Sub(l.asked) >= acceptedTime && now.Sub(l.wanted) <= 2*liveCheck {
			due[caller] = l
		}
	}
	p.mu.Unlock()
	for caller, l := range due {
		if ctx.Err() != nil {
			return
		}
		a, ok := p.seen.Find(l.token)
		if !ok || !time.Now().Before(a.until) {
			a = p.question(l.token)
		}
		if a == nil {
			continue // the session goes on
		}
		p.mu.Lock()
		if l.asked = now; a.refusal != nil || a.principal.ID != caller.ID {
			l.refused = true
			delete(p.live, caller)
		}
		p.mu.Unlock()
	}
}

// Subject returns the token of a principal that ends last, of those that are remembered
// and have not ended; false for none. It is for exchange at an authorization server.
func (p *Introspection) Subject(id string) (token secret.Text, expires time.Time, ok bool) {
	now := time.Now()
	p.seen.Each(func(text string, a *answer) {
		if principal := a.principal; principal != nil && principal.ID == id && !principal.Expired(now) && (!ok || principal.Expires.After(expires)) {
			token, expires, ok = secret.New(text), principal.Expires, true
		}
	})
	return token, expires, ok
}
