package runtimetest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

// Question is one thing that a server asks its client for in the middle of a
// request.
type Question struct {
	// Key names it among those of one request.
	Key string
	// Method and Params are the request as 2026-07-28 has it; in the handshake
	// era members are added or left out by the client's revision.
	Method string
	Params json.RawMessage
}

// Form asks for one string member of a form.
func Form(key, message, member string) Question {
	return Question{key, "elicitation/create", wireObject("mode", "form", "message", message, "requestedSchema",
		wireObject("type", "object", "properties", wireObject(member, wireObject("type", "string")), "required", []string{member}))}
}

// Link asks to open a URL.
func Link(key, message, url string) Question {
	return Question{key, "elicitation/create", wireObject("mode", "url", "message", message, "url", url)}
}

// Sampling asks for a message of the client's model.
func Sampling(key, text string) Question {
	return Question{key, "sampling/createMessage", wireObject("messages", wireArray([]json.RawMessage{
		wireObject("role", "user", "content", wireObject("type", "text", "text", text)),
	}), "maxTokens", 100)}
}

// Roots asks for the client's roots.
func Roots(key string) Question { return Question{key, "roots/list", nil} }

// need is the capability that a client has to declare for a question, as a
// path of members.
func (q Question) need() []string {
	switch q.Method {
	case "elicitation/create":
		if wireField(q.Params, "mode") == "url" {
			return []string{"elicitation", "url"}
		}
		return []string{"elicitation", "form"}
	case "sampling/createMessage":
		return []string{"sampling"}
	case "roots/list":
		return []string{"roots"}
	}
	return nil
}

// Questions puts questions to the client, all at once, and returns the raw
// results by key. In the handshake era they are requests within the call. Since
// 2026-07-28 the call ends with them: the error must be returned as it is, and
// the Func is called again with the answers, those of earlier rounds among
// them. So nothing that must not happen twice may come before it.
//
// A client that has not declared what is needed gets -32021 since 2026-07-28,
// a result with isError before.
func (c *Call) Questions(ctx context.Context, qs ...Question) (map[string]json.RawMessage, error) {
	if c.Version >= RevJuly && c.n.s.Faults.ModernDiscover {
		return nil, &runtime.Error{Code: runtime.CodeInvalidRequest, Message: "Cannot send '" + qs[0].Method + "': this transport context has no back-channel"}
	}
	if c.Version >= RevJuly {
		return c.questionsModern(qs)
	}
	qs = slices.Clone(qs)
	for i, q := range qs {
		if !c.can(q) {
			return nil, &cannotAsk{q.need()}
		}
		qs[i].Params = c.legacyParams(q)
	}
	return c.askAll(ctx, qs)
}

// askAll asks all questions at once, as requests, and returns the answers by key.
func (c *Call) askAll(ctx context.Context, qs []Question) (map[string]json.RawMessage, error) {
	var mu sync.Mutex
	answers := map[string]json.RawMessage{}
	var errs error
	var wg sync.WaitGroup
	for _, q := range qs {
		wg.Go(func() {
			res, err := c.Ask(ctx, q.Method, q.Params)
			mu.Lock()
			defer mu.Unlock()
			answers[q.Key] = res
			errs = errors.Join(errs, err)
		})
	}
	wg.Wait()
	return answers, errs
}

// declared is what the client has declared at a path of capabilities, nil for
// nothing.
func (c *Call) declared(path ...string) json.RawMessage {
	at := c.Capabilities
	for _, member := range path {
		at = wireMember(at, member)
	}
	return at
}

// can reports whether the client has declared what a question needs. An empty
// elicitation object means forms (2025-11-25, Elicitation, Capabilities).
func (c *Call) can(q Question) bool {
	need := q.need()
	var modes map[string]json.RawMessage
	switch {
	case need == nil:
		return true
	case need[len(need)-1] == "form" && json.Unmarshal(c.declared(need[0]), &modes) == nil && len(modes) == 0:
		return true
	}
	return c.declared(need...) != nil
}

// legacyParams are a question's params in the revision of the client's session.
func (c *Call) legacyParams(q Question) json.RawMessage {
	if q.Method != "elicitation/create" {
		return q.Params
	}
	if wireField(q.Params, "mode") == "url" {
		return wireWith(q.Params, `"elicitationId":`+string(wireMarshal("e-"+q.Key)))
	}
	if c.Session < RevNov { // modes came with 2025-11-25
		return json.RawMessage(strings.Replace(string(q.Params), `"mode":"form",`, "", 1))
	}
	return q.Params
}

// cannotAsk is a question that the client of a session cannot be asked.
type cannotAsk struct{ need []string }

func (e *cannotAsk) Error() string {
	return "the client does not support " + strings.Join(e.need, ".")
}

// inputRequired ends a request with questions.
type inputRequired struct{ result json.RawMessage }

func (*inputRequired) Error() string { return "input required" }

// questionsModern looks the answers up in what the request brings, and ends it
// where one is missing.
func (c *Call) questionsModern(qs []Question) (map[string]json.RawMessage, error) {
	answers, err := c.openState()
	if err != nil {
		return nil, err
	}
	requests := []any{}
	for _, q := range qs {
		if answers[q.Key] != nil {
			continue
		}
		if !c.can(q) {
			return nil, lacking(q.need())
		}
		requests = append(requests, q.Key, wireObject("method", q.Method, "params", q.Params))
	}
	if len(requests) > 0 {
		return nil, &inputRequired{wireObject("resultType", "input_required", "inputRequests", wireObject(requests...), "requestState", c.sealState(answers))}
	}
	return answers, nil
}

// lacking is the refusal of a request whose client lacks a capability.
func lacking(path []string) error {
	need := json.RawMessage(`{}`)
	for _, member := range slices.Backward(path) {
		need = wireObject(member, need)
	}
	return &runtime.Error{Code: runtime.CodeMissingCapability, Message: "client capability required: " + strings.Join(path, "."), Data: wireObject("requiredCapabilities", need)}
}

// ComeBack ends a request of 2026-07-28 once, with a state and no question: the
// client is to send it again. In the handshake era it does nothing.
func (c *Call) ComeBack() error {
	if c.Version < RevJuly || c.State != "" {
		_, err := c.openState()
		return err
	}
	return &inputRequired{wireObject("resultType", "input_required", "requestState", c.sealState(nil))}
}

// openState returns the answers so far: those that an earlier round has sealed
// and those that came with this one.
func (c *Call) openState() (map[string]json.RawMessage, error) {
	if c.Version < RevJuly || c.State == "" && len(c.Inputs) == 0 {
		return map[string]json.RawMessage{}, nil
	}
	answers, ok := openState(c.State, c.Method+" "+c.Name)
	if !ok {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "requestState is not what this server gave for this request"}
	}
	maps.Copy(answers, c.Inputs)
	return answers, nil
}

func (c *Call) sealState(answers map[string]json.RawMessage) string {
	return sealState(answers, c.Method+" "+c.Name)
}
