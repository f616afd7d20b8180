package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Question is something only a person can decide.
type Question struct {
	// Message is what is asked, one line without a question mark of its own.
	Message string
	// Help explains it; "" for nothing to explain.
	Help string
	// Flag gives the answer without a question, such as "--as ALIAS".
	Flag string
	// Default is the answer of somebody who only presses Enter: a text, or one
	// of the options; without one the first.
	Default string
	// Defaults are those of a MultiSelect.
	Defaults []string
	// Check says why an answer will not do; nil takes every answer.
	Check func(answer string) error
}

// Asker asks questions. An answer that cannot be had is an error: where
// nobody is there to ask, ErrNoAnswer; where the person broke off, one that is
// context.Canceled.
type Asker interface {
	// Select gives the index of the option chosen.
	Select(ctx context.Context, q Question, options []string) (int, error)
	// MultiSelect gives the indexes of the options chosen, none or several, in
	// the order of the options. Check sees them joined by spaces.
	MultiSelect(ctx context.Context, q Question, options []string) ([]int, error)
	// Input gives one line of text, which may be empty.
	Input(ctx context.Context, q Question) (string, error)
	// Confirm gives yes or no; yes is the default.
	Confirm(ctx context.Context, q Question) (bool, error)
}

// ErrNoAnswer is what a question ends in that nobody can be asked.
var ErrNoAnswer = errors.New("nobody to ask")

// Asker gives one that asks on the terminal, or where that is impossible or
// forbidden a [*NonInteractive].
func (u *UI) Asker() Asker {
	in, okIn := u.In.(*os.File)
	out, okOut := u.Err.(*os.File)
	if !u.CanAsk() || !okIn || !okOut {
		return &NonInteractive{}
	}
	return &surveyAsker{in: in, out: out}
}

// NonInteractive asks nothing. It keeps the questions, so that one error can
// name them all. It is for one goroutine.
type NonInteractive struct {
	questions []Question
}

// Select notes the question.
func (n *NonInteractive) Select(_ context.Context, q Question, _ []string) (int, error) {
	n.questions = append(n.questions, q)
	return 0, ErrNoAnswer
}

// MultiSelect notes the question.
func (n *NonInteractive) MultiSelect(_ context.Context, q Question, _ []string) ([]int, error) {
	n.questions = append(n.questions, q)
	return nil, ErrNoAnswer
}

// Input notes the question.
func (n *NonInteractive) Input(_ context.Context, q Question) (string, error) {
	n.questions = append(n.questions, q)
	return "", ErrNoAnswer
}

// Confirm notes the question.
func (n *NonInteractive) Confirm(_ context.Context, q Question) (bool, error) {
	n.questions = append(n.questions, q)
	return false, ErrNoAnswer
}

// Missing is one error for all questions so far, nil when there were none.
func (n *NonInteractive) Missing() error {
	if len(n.questions) == 0 {
		return nil
	}
	return &MissingAnswersError{Questions: n.questions}
}

// MissingAnswersError says which answers are missing where nobody can be
// asked, and what gives each.
type MissingAnswersError struct{ Questions []Question }

// Error lists the questions.
func (e *MissingAnswersError) Error() string {
	parts := make([]string, len(e.Questions))
	for i, q := range e.Questions {
		parts[i] = q.Message
		if q.Flag != "" {
			parts[i] += " (" + q.Flag + ")"
		}
	}
	return "there is no terminal to ask on, and this is not decided: " + strings.Join(parts, "; ")
}

// ExitKind makes it a usage error.
func (e *MissingAnswersError) ExitKind() string { return "usage" }

// Scripted answers questions in order, for tests. An answer is a string for
// Input and Select (the option that begins with it), a []string of such for
// MultiSelect, a bool for Confirm, or an error.
type Scripted struct {
	Answers []any
	// Asked are the messages of the questions so far.
	Asked []string
}

func (s *Scripted) next(q Question) (any, error) {
	s.Asked = append(s.Asked, q.Message)
	if len(s.Answers) == 0 {
		return nil, fmt.Errorf("no answer left for %q", q.Message)
	}
	a := s.Answers[0]
	s.Answers = s.Answers[1:]
	if err, ok := a.(error); ok {
		return nil, err
	}
	return a, nil
}

// Select implements [Asker].
func (s *Scripted) Select(_ context.Context, q Question, options []string) (int, error) {
	a, err := s.next(q)
	if err != nil {
		return 0, err
	}
	return pick(q, options, a)
}

// pick finds the option that begins with an answer.
func pick(q Question, options []string, answer any) (int, error) {
	want, ok := answer.(string)
	for i, o := range options {
		if ok && strings.HasPrefix(o, want) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q: no option %v among %q", q.Message, answer, options)
}

// MultiSelect implements [Asker].
func (s *Scripted) MultiSelect(_ context.Context, q Question, options []string) ([]int, error) {
	a, err := s.next(q)
	if err != nil {
		return nil, err
	}
	words, ok := a.([]string)
	if !ok {
		return nil, fmt.Errorf("%q: the answer %v is no list", q.Message, a)
	}
	chosen := make([]int, len(words))
	for i, w := range words {
		if chosen[i], err = pick(q, options, w); err != nil {
			return nil, err
		}
	}
	slices.Sort(chosen)
	if q.Check != nil {
		err = q.Check(Indexes(chosen))
	}
	return chosen, err
}

// Indexes is the form in which a MultiSelect's Check sees what was chosen.
func Indexes(chosen []int) string {
	return strings.Trim(fmt.Sprint(chosen), "[]")
}

// Input implements [Asker].
func (s *Scripted) Input(_ context.Context, q Question) (string, error) {
	a, err := s.next(q)
	if err != nil {
		return "", err
	}
	text, ok := a.(string)
	if !ok {
		return "", fmt.Errorf("%q: the answer %v is no text", q.Message, a)
	}
	if q.Check != nil {
		if err := q.Check(text); err != nil {
			return "", err
		}
	}
	return text, nil
}

// Confirm implements [Asker].
func (s *Scripted) Confirm(_ context.Context, q Question) (bool, error) {
	a, err := s.next(q)
	if err != nil {
		return false, err
	}
	yes, ok := a.(bool)
	if !ok {
		return false, fmt.Errorf("%q: the answer %v is neither yes nor no", q.Message, a)
	}
	return yes, nil
}
