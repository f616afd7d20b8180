package elicit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Options of a question.
const (
	toAnswer  = "Answer"
	toDecline = "Decline (tell the server no)"
	toCancel  = "Cancel (do not answer; Ctrl+C does the same)"
	toOpen    = "Open it in the browser"
	toVisit   = "I open it myself"
)

// ask asks the user. Aborting cancels: Ctrl+C is an answer, the end of the call is not.
func (a *Answerer) ask(ctx context.Context, q Question) (json.RawMessage, error) {
	var answer json.RawMessage
	var err error
	if q.Mode == "url" {
		answer, err = a.askPage(ctx, q)
	} else {
		answer, err = a.askForm(ctx, q)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return Cancelled(), nil
	}
	return answer, err
}

// askPage shows the address of a page and asks before opening it (2025-11-25,
// Elicitation, URL mode: show the whole address, highlight its host, get consent).
func (a *Answerer) askPage(ctx context.Context, q Question) (json.RawMessage, error) {
	u, err := url.Parse(q.URL)
	if err != nil {
		return nil, err
	}
	a.Say("%s asks you to open a page: %s", ui.CleanLine(a.Server), ui.CleanLine(q.Message))
	a.Say("  %s", ui.CleanLine(q.URL))
	at, err := a.choose(ctx, "A page of "+u.Hostname(), toOpen, toVisit, toDecline, toCancel)
	switch {
	case err != nil:
		return nil, err
	case at == toDecline:
		return json.RawMessage(declined), nil
	case at == toCancel:
		return Cancelled(), nil
	case at == toOpen:
		if err := a.Open(ctx, q.URL); err != nil {
			a.Say("open it yourself: %v", err)
		}
	}
	return json.RawMessage(accepted), nil
}

func (a *Answerer) choose(ctx context.Context, message string, options ...string) (string, error) {
	i, err := a.Asker.Select(ctx, ui.Question{Message: message}, options)
	if err != nil {
		return "", err
	}
	return options[i], nil
}

// askForm asks whether to answer at all, and then field by field.
func (a *Answerer) askForm(ctx context.Context, q Question) (json.RawMessage, error) {
	f, err := ParseForm(q.Schema)
	if err != nil {
		return nil, err
	}
	at, err := a.choose(ctx, ui.CleanLine(a.Server)+" asks: "+ui.CleanLine(q.Message), toAnswer, toDecline, toCancel)
	switch {
	case err != nil:
		return nil, err
	case at == toDecline:
		return json.RawMessage(declined), nil
	case at == toCancel:
		return Cancelled(), nil
	}
	given := map[string]json.RawMessage{}
	for i := range f.Fields {
		field := &f.Fields[i]
		v, err := field.ask(ctx, a.Asker)
		if err != nil {
			return nil, err
		}
		if v != nil {
			given[field.Name] = v
		}
		field.Default = nil // left out although the default was shown
	}
	content, err := f.Content(given)
	if unfit, ok := errors.AsType[*schema.ValidationError](err); ok {
		// Each field fits, and the combination does not: no form of the
		// specification has such a rule.
		return Cancelled(), a.unanswered(q, "the answers do not fit together: "+unfit.Error())
	}
	if err != nil {
		return nil, err
	}
	return accept(content), nil
}

// ask asks for a field and returns its raw value, nil if left out.
func (f *Field) ask(ctx context.Context, asker ui.Asker) (json.RawMessage, error) {
	q := ui.Question{Message: f.label(), Help: f.Description}
	switch f.Kind {
	case Boolean:
		return f.choose(ctx, asker, q, []Option{{"true", "yes"}, {"false", "no"}}, func(v string) json.RawMessage { return json.RawMessage(v) })
	case Choice:
		return f.choose(ctx, asker, q, f.Options, func(v string) json.RawMessage { return json.RawMessage(schema.Quote(v)) })
	case Choices:
		return f.chooseSeveral(ctx, asker, q)
	case Text, Number, JSON:
	}
	q.Default = f.defaultText()
	q.Check = func(typed string) error {
		_, err := f.value(typed)
		return err
	}
	typed, err := asker.Input(ctx, q)
	if err != nil {
		return nil, err
	}
	return f.value(typed)
}

// label returns the field's display name and what to enter.
func (f *Field) label() string {
	name := cmp.Or(f.Title, f.Name)
	switch {
	case f.Kind == JSON:
		name += " (JSON)"
	case f.Format != "":
		name += " (" + f.Format + ")"
	}
	if !f.Required {
		name += " (optional)"
	}
	return name
}

// defaultText returns the default as typed by a user.
func (f *Field) defaultText() string {
	var s string
	if f.Kind == Text && json.Unmarshal(f.Default, &s) == nil {
		return s
	}
	return string(f.Default)
}

const leaveOut = "(leave it out)"

// choose asks for one of several values. Options with the same title show their
// values.
func (f *Field) choose(ctx context.Context, asker ui.Asker, q ui.Question, options []Option, raw func(string) json.RawMessage) (json.RawMessage, error) {
	titles := distinctTitles(options)
	for i, o := range options {
		if string(f.Default) == string(raw(o.Value)) {
			q.Default = titles[i]
		}
	}
	if !f.Required {
		titles = append(titles, leaveOut)
	}
	i, err := asker.Select(ctx, q, titles)
	if err != nil || i == len(options) {
		return nil, err
	}
	return raw(options[i].Value), nil
}

func (f *Field) chooseSeveral(ctx context.Context, asker ui.Asker, q ui.Question) (json.RawMessage, error) {
	titles := distinctTitles(f.Options)
	var marked []string
	if json.Unmarshal(f.Default, &marked) == nil {
		for i, o := range f.Options {
			if slices.Contains(marked, o.Value) {
				q.Defaults = append(q.Defaults, titles[i])
			}
		}
	}
	value := func(chosen []int) json.RawMessage {
		values := make([]string, len(chosen))
		for i, at := range chosen {
			values[i] = schema.Quote(f.Options[at].Value)
		}
		return json.RawMessage("[" + strings.Join(values, ",") + "]")
	}
	q.Check = func(text string) error {
		var chosen []int
		for word := range strings.FieldsSeq(text) {
			var i int
			if _, err := fmt.Sscan(word, &i); err != nil {
				return err
			}
			chosen = append(chosen, i)
		}
		if len(chosen) == 0 && !f.Required {
			return nil
		}
		return f.fits(value(chosen))
	}
	chosen, err := asker.MultiSelect(ctx, q, titles)
	if err != nil || len(chosen) == 0 && !f.Required {
		return nil, err
	}
	return value(chosen), nil
}

// distinctTitles returns the titles of options, duplicates with their values.
func distinctTitles(options []Option) []string {
	count := map[string]int{}
	for _, o := range options {
		count[o.Title]++
	}
	titles := make([]string, len(options))
	for i, o := range options {
		titles[i] = o.Title
		if count[o.Title] > 1 {
			titles[i] = fmt.Sprintf("%s (%s)", o.Title, o.Value)
		}
	}
	return titles
}
