package elicit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// Question is the params of elicitation/create.
type Question struct {
	Mode    string          `json:"mode"` // "form", which is also "", or "url"
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema"`
	URL     string          `json:"url"`
}

// ParseQuestion reads params.
func ParseQuestion(params json.RawMessage) (Question, error) {
	var q Question
	if err := json.Unmarshal(params, &q); err != nil {
		return q, err
	}
	switch q.Mode {
	case "", "form":
		return q, nil
	case "url":
		if u, err := url.Parse(q.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return q, fmt.Errorf("url: %q is not the address of a page", q.URL)
		}
		return q, nil
	}
	return q, fmt.Errorf("mode: %q is unknown", q.Mode)
}

// The answers without content.
const (
	accepted  = `{"action":"accept"}`
	declined  = `{"action":"decline"}`
	cancelled = `{"action":"cancel"}`
)

// Cancelled returns the answer without anybody to ask.
func Cancelled() json.RawMessage { return json.RawMessage(cancelled) }

// Answerer answers the questions of one server. It is for one goroutine at a time.
type Answerer struct {
	Policy Policy
	// Server is the server's name, shown to the user.
	Server string
	// Asker asks the user; Open opens a page, and Say prints a line.
	Asker ui.Asker
	Open  func(ctx context.Context, page string) error
	Say   func(format string, a ...any)
}

// UnansweredError says why a question was declined or cancelled: there was nobody to
// ask, or the given values do not fit.
type UnansweredError struct {
	Server string
	Asked  Question
	Why    string
}

// Error names the server and its question.
func (e *UnansweredError) Error() string {
	return fmt.Sprintf("%s asks %q: %s", e.Server, ui.CleanLine(e.Asked.Message), e.Why)
}

// ExitKind makes it a usage error: the command line could have answered.
func (*UnansweredError) ExitKind() string { return "usage" }

// Hint returns the flag that answers.
func (e *UnansweredError) Hint() string {
	if e.Asked.Mode == "url" {
		return "run it on a terminal to see the page and decide; --elicit decline says no"
	}
	hint := "--elicit answers: defaults, decline or a JSON object"
	if f, err := ParseForm(e.Asked.Schema); err == nil && len(f.Fields) > 0 {
		hint += " of " + f.signature()
	}
	return hint
}

// signature returns the fields and their types.
func (f *Form) signature() string {
	var fields []string
	for _, p := range f.schema.Root().Properties() {
		name := p.Name
		if !p.Required {
			name += "?"
		}
		fields = append(fields, name+":"+p.Node.Type())
	}
	return strings.Join(fields, ", ")
}

// Answer returns the result to send, also with an *UnansweredError. Other errors are
// faults of the question and have no result.
func (a *Answerer) Answer(ctx context.Context, q Question) (json.RawMessage, error) {
	switch a.Policy.Mode {
	case Decline:
		return json.RawMessage(declined), nil
	case Ask, Unset:
		if _, nobody := a.Asker.(*ui.NonInteractive); nobody {
			return Cancelled(), a.unanswered(q, "there is no terminal to ask on")
		}
		return a.ask(ctx, q)
	case Defaults, Given:
	}
	if q.Mode == "url" {
		return json.RawMessage(declined), a.unanswered(q, "only a person can decide to open "+q.URL)
	}
	f, err := ParseForm(q.Schema)
	if err != nil {
		return nil, err
	}
	content, err := f.Content(a.Policy.Values)
	if err != nil {
		why := "the answer of --elicit does not fit: "
		if a.Policy.Mode == Defaults {
			why = "the defaults do not answer it: "
		}
		return Cancelled(), a.unanswered(q, why+err.Error())
	}
	return accept(content), nil
}

func (a *Answerer) unanswered(q Question, why string) error {
	return &UnansweredError{Server: a.Server, Asked: q, Why: why}
}

func accept(content json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `{"action":"accept","content":%s}`, content)
}
