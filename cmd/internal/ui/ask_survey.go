package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
	"golang.org/x/term"
)

// surveyAsker asks on a real terminal: it reads standard input and draws on
// standard error, since standard output is for results. Only this file uses survey,
// which is archived upstream.
type surveyAsker struct {
	in, out *os.File
}

// selectPage is how many options are shown at once.
const selectPage = 12

func (s *surveyAsker) Select(ctx context.Context, q Question, options []string) (int, error) {
	var at int
	p := &survey.Select{Message: prompt(q.Message), Help: CleanLine(q.Help), Options: s.shown(options), PageSize: selectPage}
	if i := slices.Index(options, q.Default); i >= 0 {
		p.Default = i
	}
	if err := s.ask(ctx, p, &at, nil); err != nil {
		return 0, err // an abandoned prompt may still write to at
	}
	return at, nil
}

// prompt returns a question with a colon behind it, unless it ends like a sentence.
func prompt(message string) string {
	message = CleanLine(message)
	if strings.HasSuffix(message, "?") || strings.HasSuffix(message, ".") || strings.HasSuffix(message, ":") {
		return message
	}
	return message + ":"
}

// optionIndent is how many columns stand before an option, and one behind it.
const optionIndent = 8

// minOption is how many columns an option has at least.
const minOption = 8

// shown returns options as they are drawn, one a line.
func (s *surveyAsker) shown(options []string) []string {
	width := 0
	if w := widthOf(s.out); w > 0 {
		width = max(w-optionIndent, minOption)
	}
	shown := make([]string, len(options))
	for i, o := range options {
		shown[i] = snip(CleanLine(o), width)
	}
	return shown
}

func (s *surveyAsker) MultiSelect(ctx context.Context, q Question, options []string) ([]int, error) {
	p := &survey.MultiSelect{Message: prompt(q.Message), Help: CleanLine(q.Help), Options: s.shown(options), PageSize: selectPage}
	var marked []int
	for i, o := range options {
		if slices.Contains(q.Defaults, o) {
			marked = append(marked, i)
		}
	}
	p.Default = marked
	var chosen []int
	var check survey.Validator
	if q.Check != nil {
		check = func(v any) error {
			answers, ok := v.([]survey.OptionAnswer)
			if !ok {
				return fmt.Errorf("got %T, want options", v)
			}
			at := make([]int, len(answers))
			for i, a := range answers {
				at[i] = a.Index
			}
			return plainError(q.Check(Indexes(at)))
		}
	}
	if err := s.ask(ctx, p, &chosen, check); err != nil {
		return nil, err
	}
	return chosen, nil
}

func (s *surveyAsker) Input(ctx context.Context, q Question) (string, error) {
	var text string
	p := &survey.Input{Message: prompt(q.Message), Help: CleanLine(q.Help), Default: CleanLine(q.Default)}
	err := s.ask(ctx, p, &text, textCheck(q.Check))
	if err != nil {
		return "", err
	}
	return text, nil
}

func (s *surveyAsker) Secret(ctx context.Context, q Question) (string, error) {
	var text string
	if err := s.ask(ctx, &survey.Password{Message: prompt(q.Message)}, &text, textCheck(q.Check)); err != nil {
		return "", err
	}
	return text, nil
}

func (s *surveyAsker) Confirm(ctx context.Context, q Question) (bool, error) {
	yes := true
	err := s.ask(ctx, &survey.Confirm{Message: CleanLine(q.Message) + "?", Help: CleanLine(q.Help), Default: true}, &yes, nil)
	if err != nil {
		return false, err
	}
	return yes, nil
}

func textCheck(check func(string) error) survey.Validator {
	if check == nil {
		return nil
	}
	return func(v any) error {
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("got %T, want a text", v)
		}
		return plainError(check(text))
	}
}

// plainError is an error that a prompt shows: it may quote a server's schema.
func plainError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(CleanLine(err.Error()))
}

// ask runs one prompt. Survey's read cannot be cancelled, so when the context ends
// it is abandoned and the terminal restored; the program is about to end then.
func (s *surveyAsker) ask(ctx context.Context, p survey.Prompt, answer any, check survey.Validator) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	opts := []survey.AskOpt{survey.WithStdio(s.in, s.out, s.out)}
	if check != nil {
		opts = append(opts, survey.WithValidator(check))
	}
	before, stateErr := term.GetState(int(s.in.Fd()))
	done := make(chan error, 1)
	go func() { done <- survey.AskOne(p, answer, opts...) }()
	select {
	case err := <-done:
		if errors.Is(err, terminal.InterruptErr) || errors.Is(err, io.EOF) {
			return fmt.Errorf("question: %w", context.Canceled)
		}
		return err
	case <-ctx.Done():
		if stateErr == nil {
			_ = term.Restore(int(s.in.Fd()), before)
			_, _ = io.WriteString(s.out, "\x1b[?25h\r\n") // the cursor, which a list hides
		}
		return ctx.Err()
	}
}
