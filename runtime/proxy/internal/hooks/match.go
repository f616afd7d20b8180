package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// Part is what of a call a rule looks at.
type Part string

// Parts of a call.
const (
	InArguments Part = "arguments"
	InResult    Part = "result"
	// InCall is one text: the name of the tool, a space, and the arguments as JSON without
	// white space, with the members of objects sorted. It cannot be redacted.
	InCall Part = "call"
)

// Action is what follows where a rule finds something.
type Action string

// Actions.
const (
	// Block refuses the call, or its result.
	Block Action = "block"
	// Redact takes what is found away.
	Redact Action = "redact"
	// Audit puts it into the record of the call and into the log.
	Audit Action = "audit"
	// Label adds the name of the rule to the labels that policies read.
	Label Action = "label"
)

// Rule looks for a pattern in the strings of a call.
type Rule struct {
	Name string
	// Tools are patterns of exposed names, in which * stands for any text; with ! in front
	// they leave out, wherever they stand. Nil: all.
	Tools   []string
	In      Part
	Pattern *regexp.Regexp
	Action  Action
	// Message is what the caller is told where the rule blocks, "" for what it has found
	// and where.
	Message string
}

// match is a rule as a hook.
type match struct {
	Rule
	rule *guards.Rule
}

// NewMatch returns the hook of a rule.
func NewMatch(r Rule) (Hook, error) {
	switch {
	case r.Pattern == nil:
		return nil, errors.New("there is no pattern")
	case r.Pattern.MatchString(""):
		return nil, errors.New("the pattern matches the empty text, and so every call")
	case !slices.Contains([]Part{InArguments, InResult, InCall}, r.In):
		return nil, fmt.Errorf("in: %q is none of arguments, result and call", r.In)
	case r.In == InCall && r.Action == Redact:
		return nil, errors.New("a call as a whole cannot be redacted")
	case r.Message != "" && r.Action != Block:
		return nil, errors.New("only a rule that blocks has a message")
	case !slices.Contains([]Action{Block, Redact, Audit, Label}, r.Action):
		return nil, fmt.Errorf("action: %q is not block, redact, audit or label", r.Action)
	}
	return &match{r, guards.NewRule(r.Name, r.Pattern)}, nil
}

func (m *match) Wants(t Target) Phases {
	if !selection(m.Tools).wants(t) {
		return 0
	}
	if m.In == InResult {
		return PhaseResponse
	}
	return PhaseRequest
}

func (m *match) Request(_ context.Context, c *Call) error {
	at, err := rawjson.Field(c.Params, "arguments")
	if err == nil && m.In == InCall {
		return m.call(c, at.Of(c.Params))
	}
	if err != nil || !at.Present() {
		return err
	}
	out, err := m.scan(c, at.Of(c.Params))
	if err == nil && !same(out, at.Of(c.Params)) {
		c.Params = rawjson.Splice(nil, c.Params, rawjson.Edit{Span: at, New: out})
	}
	return err
}

func (m *match) Response(_ context.Context, c *Call) error {
	if c.Err == nil {
		out, err := m.scan(c, c.Result)
		if err == nil {
			c.Result = out
		}
		return err
	}
	sent, ok := errors.AsType[*runtime.Error](c.Err)
	if !ok || sent.Raw == nil {
		return nil // an error of ours has nothing that a server has said
	}
	out, err := m.scan(c, sent.Raw)
	if err == nil && !same(out, sent.Raw) {
		c.Err = runtime.ParseError(out)
	}
	return err
}

// scan looks at a part of a message, and returns it without what is to be taken away.
func (m *match) scan(c *Call, part []byte) ([]byte, error) {
	if m.Action == Redact {
		out, found, err := m.rule.Clean(part)
		if found {
			c.note(m.Name)
		}
		return out, err
	}
	pointer, found := m.rule.Find(part)
	if !found {
		return part, nil
	}
	if m.In == InArguments {
		return part, m.follow(c, "something in the argument "+plain.Line(pointer)+" is not allowed")
	}
	return part, m.follow(c, "something in the result is not allowed")
}

// call looks at a call as one text, and at each string of its arguments: those of an object
// with a member twice have no other form.
func (m *match) call(c *Call, arguments []byte) error {
	found := m.Pattern.MatchString(c.Target.Exposed + " " + string(rawjson.Normal(arguments)))
	if !found && len(arguments) > 0 {
		_, found = m.rule.Find(arguments)
	}
	if !found {
		return nil
	}
	return m.follow(c, "something in the call is not allowed")
}

// follow does what follows where something was found. Reason is why a call is refused, where
// the rule does not say.
func (m *match) follow(c *Call, reason string) error {
	switch m.Action {
	case Block:
		return &Refusal{cmp.Or(m.Message, reason)}
	case Label:
		c.Label(m.Name)
	case Audit, Redact:
		c.note(m.Name)
	}
	return nil
}
