package management

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

const (
	// answerTimeout is how long a person may take to answer.
	answerTimeout = 10 * time.Minute
	// keepAlive is how often a host that wants progress hears that a person is being asked:
	// many give up on a call after a minute without a sign.
	keepAlive = 10 * time.Second
	// maxRefusals is how many questions in a row may be refused before nobody is asked
	// for quietTime: an agent does not get consent by asking again and again.
	maxRefusals = 3
	quietTime   = 5 * time.Minute
	// maxDeclined bounds the proposals that are remembered as declined; beyond it, all are
	// forgotten.
	maxDeclined = 100
)

// proposal is what a person is asked.
type proposal struct {
	// message is the question with all that it is about; field is what is agreed to.
	message, field string
	// exact are the bytes that are written: with message it is what the consent is for.
	exact []byte
	// command is what a person can run instead.
	command string
}

type digest [sha256.Size]byte

func (p *proposal) digest() digest {
	return sha256.Sum256(append([]byte(p.message+"\x00"), p.exact...))
}

// consent asks the person behind a host, one question at a time.
type consent struct {
	now     func() time.Time
	timeout time.Duration

	mu *sync.Mutex // guards the rest
	// asking is set while a host of the handshake era has a question.
	asking bool
	// open is the question that a host of 2026-07-28 was given last. A later one takes
	// its place.
	open struct {
		state  string
		what   digest
		expiry time.Time
	}
	declined map[digest]bool
	refusals int       // in a row
	quiet    time.Time // until when nobody is asked
}

func newConsent() consent {
	return consent{now: time.Now, timeout: answerTimeout, mu: &sync.Mutex{}, declined: map[digest]bool{}}
}

// inputRequired ends a call of 2026-07-28 with a question. The host sends the call again
// with the answer.
type inputRequired struct{ result json.RawMessage }

// Error says that it is no failure.
func (*inputRequired) Error() string { return "a person is asked" }

// refused is the error of a change that no person has agreed to.
type refused struct{ why, command string }

// Error names what a person can do.
func (e *refused) Error() string {
	if e.command == "" {
		return e.why
	}
	return e.why + " Nothing is changed. A person can do it in a terminal: " + e.command
}

// ask returns nil if the person agrees. It is an *inputRequired if the host has to ask and
// call again, otherwise a *refused.
func (s *consent) ask(ctx, gone context.Context, c *runtimetest.Call, p proposal) error {
	if !asksForms(c.Capabilities) {
		return &refused{"This host cannot ask a person for consent (it does not support elicitation).", p.command}
	}
	modern := c.Version >= runtimetest.RevJuly
	if modern && c.State != "" {
		if answer, ok := c.Inputs[answerKey]; ok && s.take(c.State, p.digest()) {
			return s.verdict(answer, p)
		}
	}
	if err := s.begin(p, modern); err != nil {
		return err
	}
	if modern {
		return &inputRequired{s.question(p)}
	}
	answer, err := s.wait(ctx, gone, c, p)
	s.mu.Lock()
	s.asking = false
	s.mu.Unlock()
	if err != nil {
		return &refused{"The host gave no answer of a person: " + err.Error() + ".", p.command}
	}
	return s.verdict(answer, p)
}

// answerKey names the question in a call of 2026-07-28.
const answerKey = "approve"

// asksForms reports whether a client declares that it shows forms. An empty object means
// forms (2025-11-25, Elicitation, Capabilities).
func asksForms(capabilities json.RawMessage) bool {
	var declared struct {
		Elicitation map[string]json.RawMessage `json:"elicitation"`
	}
	if json.Unmarshal(capabilities, &declared) != nil || declared.Elicitation == nil {
		return false
	}
	_, form := declared.Elicitation["form"]
	return form || len(declared.Elicitation) == 0
}

// begin reports why a question may not be asked now. In the handshake era it counts as
// asked from then on.
func (s *consent) begin(p proposal, modern bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.declined[p.digest()]:
		return &refused{"A person has declined exactly this, and is not asked again.", p.command}
	case s.now().Before(s.quiet):
		return &refused{"A person has refused several questions in a row, and is not asked for some minutes.", p.command}
	case s.asking:
		return &refused{"A person is being asked something else. Wait for that answer, and call again.", ""}
	}
	s.asking = !modern
	return nil
}

// question returns the result that has a host of 2026-07-28 ask, and remembers what for.
func (s *consent) question(p proposal) json.RawMessage {
	state := rand.Text()
	s.mu.Lock()
	s.open.state, s.open.what, s.open.expiry = state, p.digest(), s.now().Add(s.timeout)
	s.mu.Unlock()
	return marshal(map[string]any{
		"resultType": "input_required", "requestState": state,
		"inputRequests": map[string]any{answerKey: map[string]any{"method": "elicitation/create", "params": p.form(true)}},
	})
}

// take reports whether an answer is to the question that is open, in time and about the
// same. A question is answered once.
func (s *consent) take(state string, what digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open.state != state {
		return false
	}
	s.open.state = ""
	return s.open.what == what && s.now().Before(s.open.expiry)
}

// wait asks a host of the handshake era, and returns its answer.
func (s *consent) wait(ctx, gone context.Context, c *runtimetest.Call, p proposal) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errors.New("nobody has answered in time"))
	defer cancel()
	defer context.AfterFunc(gone, cancel)()
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	type reply struct {
		raw json.RawMessage
		err error
	}
	answered := make(chan reply, 1)
	go func() {
		raw, err := c.Ask(ctx, "elicitation/create", marshal(p.form(c.Session >= runtimetest.RevNov)))
		answered <- reply{raw, err}
	}()
	for n := 1; ; n++ {
		select {
		case r := <-answered:
			return r.raw, r.err
		case <-tick.C:
			if ctx.Err() != nil {
				continue // the answer is at hand
			}
			c.Progress(float64(n)*keepAlive.Seconds(), s.timeout.Seconds(), "a person is being asked")
		}
	}
}

// form returns the params of the elicitation. The member has no default and is required,
// so that a host that answers by itself does not agree.
func (p *proposal) form(mode bool) map[string]any {
	params := map[string]any{
		"message": p.message,
		"requestedSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{answerKey: map[string]any{"type": "boolean", "title": p.field, "description": "Nothing is changed without a yes."}},
			"required":   []string{answerKey},
		},
	}
	if mode { // since 2025-11-25
		params["mode"] = "form"
	}
	return params
}

// verdict reads the answer of a host.
func (s *consent) verdict(raw json.RawMessage, p proposal) error {
	var answer struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	why := "The host's answer is not one of a person."
	declined := false
	if json.Unmarshal(raw, &answer) == nil {
		said := string(bytes.TrimSpace(answer.Content[answerKey]))
		switch {
		case answer.Action == "accept" && said == "true":
			s.mu.Lock()
			s.refusals = 0
			s.mu.Unlock()
			return nil
		case answer.Action == "decline", answer.Action == "accept" && said == "false":
			why, declined = "The person has declined.", true
		case answer.Action == "cancel":
			why = "The person has closed the question without an answer."
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if declined {
		if len(s.declined) == maxDeclined {
			clear(s.declined)
		}
		s.declined[p.digest()] = true
	}
	if s.refusals++; s.refusals >= maxRefusals {
		s.refusals, s.quiet = 0, s.now().Add(quietTime)
	}
	return &refused{why, p.command}
}

// marshal is [plain.JSON] of a value that has a form in JSON.
func marshal(v any) json.RawMessage {
	raw, _ := plain.JSON(v) // maps and texts of ours always have one
	return raw
}
