package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Question is a question for the user.
type Question struct {
	// Message is the question, one line without a question mark.
	Message string
	// Help explains it, or is "".
	Help string
	// Flag answers without a question, such as "--as ALIAS".
	Flag string
	// Default is the answer to a bare Enter: a text, or one of the options, by
	// default the first; [No] of a Confirm.
	Default string
	// Defaults are those of a MultiSelect.
	Defaults []string
	// Check returns why an answer is refused; nil accepts every answer.
	Check func(answer string) error
}

// Asker asks questions. Without anybody to ask the error is ErrNoAnswer; if the
// user aborts, one that is context.Canceled.
type Asker interface {
	// Select returns the index of the chosen option.
	Select(ctx context.Context, q Question, options []string) (int, error)
	// MultiSelect returns the indexes of the chosen options, if any, in the order of
	// the options. Check gets them joined by spaces.
	MultiSelect(ctx context.Context, q Question, options []string) ([]int, error)
	// Input returns one line of text, which may be empty.
	Input(ctx context.Context, q Question) (string, error)
	// Secret is Input, and what is typed is not shown.
	Secret(ctx context.Context, q Question) (string, error)
	// Confirm returns yes or no; yes is the default, unless the question's is [No].
	Confirm(ctx context.Context, q Question) (bool, error)
}

// No is the default of a question about something that cannot be undone.
const No = "no"

// ErrNoAnswer is the error of a question without anybody to ask.
var ErrNoAnswer = errors.New("nobody to ask")

// Asker returns one that asks on the terminal, or a [*NonInteractive] where that is
// impossible or forbidden.
func (u *UI) Asker() Asker {
	in, okIn := u.In.(*os.File)
	out, okOut := u.Err.(*os.File)
	if !u.CanAsk() || !okIn || !okOut {
		return &NonInteractive{}
	}
	return &terminalAsker{in: in, out: out, hold: u.Hold}
}

// NonInteractive records questions in place of asking, so that one error can name
// them all. It is for one goroutine.
type NonInteractive struct {
	questions []Question
}

// Select records the question.
func (n *NonInteractive) Select(_ context.Context, q Question, _ []string) (int, error) {
	n.questions = append(n.questions, q)
	return 0, ErrNoAnswer
}

// MultiSelect records the question.
func (n *NonInteractive) MultiSelect(_ context.Context, q Question, _ []string) ([]int, error) {
	n.questions = append(n.questions, q)
	return nil, ErrNoAnswer
}

// Input records the question.
func (n *NonInteractive) Input(_ context.Context, q Question) (string, error) {
	n.questions = append(n.questions, q)
	return "", ErrNoAnswer
}

// Secret records the question.
func (n *NonInteractive) Secret(ctx context.Context, q Question) (string, error) {
	return n.Input(ctx, q)
}

// Confirm records the question.
func (n *NonInteractive) Confirm(_ context.Context, q Question) (bool, error) {
	n.questions = append(n.questions, q)
	return false, ErrNoAnswer
}

// Missing returns one error for all questions so far, nil for none.
func (n *NonInteractive) Missing() error {
	if len(n.questions) == 0 {
		return nil
	}
	return &MissingAnswersError{Questions: n.questions}
}

// MissingAnswersError lists questions that nobody could be asked, and their flags.
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

// next takes the next answer, which must be of the kind that the question wants.
func next[T any](s *Scripted, q Question) (answer T, err error) {
	s.Asked = append(s.Asked, q.Message)
	if len(s.Answers) == 0 {
		return answer, fmt.Errorf("no answer left for %q", q.Message)
	}
	a := s.Answers[0]
	s.Answers = s.Answers[1:]
	if err, ok := a.(error); ok {
		return answer, err
	}
	answer, ok := a.(T)
	if !ok {
		return answer, fmt.Errorf("%q: the answer %v is no %T", q.Message, a, answer)
	}
	return answer, nil
}

// Select implements [Asker].
func (s *Scripted) Select(_ context.Context, q Question, options []string) (int, error) {
	want, err := next[string](s, q)
	if err != nil {
		return 0, err
	}
	return pick(q, options, want)
}

// pick returns the index of the option that begins with an answer.
func pick(q Question, options []string, want string) (int, error) {
	i := slices.IndexFunc(options, func(o string) bool { return strings.HasPrefix(o, want) })
	if i < 0 {
		return 0, fmt.Errorf("%q: no option %v among %q", q.Message, want, options)
	}
	return i, nil
}

// MultiSelect implements [Asker].
func (s *Scripted) MultiSelect(_ context.Context, q Question, options []string) ([]int, error) {
	words, err := next[[]string](s, q)
	if err != nil {
		return nil, err
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

// Indexes returns chosen options in the form that a MultiSelect's Check gets.
func Indexes(chosen []int) string {
	return strings.Trim(fmt.Sprint(chosen), "[]")
}

// Input implements [Asker].
func (s *Scripted) Input(_ context.Context, q Question) (string, error) {
	text, err := next[string](s, q)
	if err == nil && q.Check != nil {
		err = q.Check(text)
	}
	if err != nil {
		return "", err
	}
	return text, nil
}

// Secret implements [Asker].
func (s *Scripted) Secret(ctx context.Context, q Question) (string, error) { return s.Input(ctx, q) }

// Confirm implements [Asker].
func (s *Scripted) Confirm(_ context.Context, q Question) (bool, error) { return next[bool](s, q) }
