package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/AlecAivazis/survey/v2/terminal"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// terminalAsker asks on a real terminal: it reads standard input and draws on
// standard error, since standard output is for results. Survey reads the keys. Its
// prompts are not used: they draw with text/template, and with that the linker keeps
// every method of every type, a seventh of the program.
type terminalAsker struct {
	in, out *os.File
	// hold keeps the live line away while a question is on the screen.
	hold func() (release func())
}

// selectPage is how many options are shown at once.
const selectPage = 12

func (t *terminalAsker) Select(ctx context.Context, q Question, options []string) (int, error) {
	l := &list{options: t.shown(options), at: max(0, slices.Index(options, q.Default))}
	if err := t.ask(ctx, func(d *dialog) error { return d.choose(q, l, nil) }); err != nil {
		return 0, err // an abandoned question may still change l
	}
	return l.left()[l.at], nil
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
func (t *terminalAsker) shown(options []string) []string {
	width := 0
	if w := widthOf(t.out); w > 0 {
		width = max(w-optionIndent, minOption)
	}
	shown := make([]string, len(options))
	for i, o := range options {
		shown[i] = snip(CleanLine(o), width)
	}
	return shown
}

func (t *terminalAsker) MultiSelect(ctx context.Context, q Question, options []string) ([]int, error) {
	l := &list{options: t.shown(options), marked: make([]bool, len(options))}
	for i, o := range options {
		l.marked[i] = slices.Contains(q.Defaults, o)
	}
	var check func() error
	if q.Check != nil {
		check = func() error { return q.Check(Indexes(l.chosen())) }
	}
	if err := t.ask(ctx, func(d *dialog) error { return d.choose(q, l, check) }); err != nil {
		return nil, err
	}
	return l.chosen(), nil
}

func (t *terminalAsker) Input(ctx context.Context, q Question) (string, error) {
	return t.text(ctx, q, 0)
}

func (t *terminalAsker) Secret(ctx context.Context, q Question) (string, error) {
	q.Help, q.Default = "", ""
	return t.text(ctx, q, '*')
}

func (t *terminalAsker) text(ctx context.Context, q Question, mask rune) (string, error) {
	var answer string
	err := t.ask(ctx, func(d *dialog) (err error) {
		answer, err = d.line(q, mask)
		return err
	})
	if err != nil {
		return "", err
	}
	return answer, nil
}

func (t *terminalAsker) Confirm(ctx context.Context, q Question) (bool, error) {
	var yes bool
	err := t.ask(ctx, func(d *dialog) (err error) {
		yes, err = d.confirm(q)
		return err
	})
	return err == nil && yes, err
}

// ask runs one dialog. A read of the terminal cannot be cancelled, so when the
// context ends the dialog is abandoned and the terminal restored; the program is about
// to end then.
func (t *terminalAsker) ask(ctx context.Context, run func(*dialog) error) error {
	defer t.hold()()
	if err := ctx.Err(); err != nil {
		return err
	}
	stdio := terminal.Stdio{In: t.in, Out: t.out, Err: t.out}
	d := &dialog{stdio: stdio, keys: terminal.NewRuneReader(stdio), cursor: &terminal.Cursor{In: t.in, Out: t.out}, width: widthOf(t.out)}
	before, stateErr := term.GetState(int(t.in.Fd()))
	done := make(chan error, 1)
	go func() {
		if err := d.keys.SetTermMode(); err != nil {
			done <- err
			return
		}
		err := run(d)
		done <- errors.Join(err, d.keys.RestoreTermMode())
	}()
	select {
	case err := <-done:
		if errors.Is(err, terminal.InterruptErr) || errors.Is(err, io.EOF) {
			return fmt.Errorf("question: %w", context.Canceled)
		}
		return err
	case <-ctx.Done():
		if stateErr == nil {
			_ = term.Restore(int(t.in.Fd()), before)
			_, _ = io.WriteString(t.out, "\x1b[?25h\r\n") // the cursor, which a list hides
		}
		return ctx.Err()
	}
}

// dialog is one question on a terminal, until it is answered.
type dialog struct {
	stdio  terminal.Stdio
	keys   *terminal.RuneReader
	cursor *terminal.Cursor
	width  int // columns of the terminal, 0 if unknown
	drawn  int // lines above the cursor that the next drawing replaces
}

// Colours of a question.
const (
	markColor   = "\x1b[1;92m"
	boldText    = "\x1b[1;99m"
	answerColor = "\x1b[36m"
	faultColor  = "\x1b[31m"
	plainText   = "\x1b[0m"
)

// head is the line of a question.
func head(message string) string {
	return markColor + "? " + plainText + boldText + message + plainText
}

// helpLine explains a question.
func helpLine(help string) string { return answerColor + "? " + help + plainText }

// draw replaces what is drawn by some lines.
func (d *dialog) draw(lines ...string) {
	for range d.drawn {
		_ = d.cursor.PreviousLine(1)
		_ = terminal.EraseLine(d.stdio.Out, terminal.ERASE_LINE_ALL)
	}
	d.drawn = 0
	for _, line := range lines {
		_, _ = io.WriteString(d.stdio.Out, line+"\n")
		d.drawn += d.rows(line)
	}
}

// rows is how many lines of the terminal a line takes.
func (d *dialog) rows(line string) int {
	if d.width <= 0 {
		return 1
	}
	return max(1, (text.StringWidthWithoutEscSequences(line)+d.width-1)/d.width)
}

// refuse says what is wrong with an answer; the question follows once more.
func (d *dialog) refuse(err error) {
	d.draw(faultColor + "X Sorry, your reply was invalid: " + CleanLine(err.Error()) + plainText)
	d.drawn = 0
}

// read reads a line behind a question.
func (d *dialog) read(question string, mask rune) (string, error) {
	l := &typing{mask: mask}
	for {
		below := d.drawLine(question, l)
		key, _, err := d.keys.ReadRune()
		for range below {
			_ = d.cursor.NextLine(1)
		}
		switch {
		case err != nil:
			return "", err
		case key == terminal.KeyInterrupt:
			return "", terminal.InterruptErr
		case l.press(key):
			return string(l.text), nil
		}
	}
}

// drawLine draws a question and what has been typed, and leaves the cursor in the
// line. It returns how many lines further down the end of the drawing is.
func (d *dialog) drawLine(question string, l *typing) (below int) {
	before, behind := l.shown()
	d.draw(question + " " + before + behind)
	row, column := 0, text.StringWidthWithoutEscSequences(question+" "+before)
	if d.width > 0 {
		row, column = column/d.width, column%d.width
	}
	below = d.drawn - row
	for range below {
		_ = d.cursor.PreviousLine(1)
	}
	if column > 0 {
		_ = d.cursor.Forward(column)
	}
	return below
}

// line asks for a line of text. A mask other than zero is shown in its place.
func (d *dialog) line(q Question, mask rune) (string, error) {
	message, help := head(prompt(q.Message)), CleanLine(q.Help)
	question, standard := message, CleanLine(q.Default)
	if help != "" {
		question += " " + answerColor + "[? for help]" + plainText
	}
	if standard != "" {
		question += " (" + standard + ")"
	}
	for {
		answer, err := d.read(question, mask)
		switch {
		case err != nil:
			return "", err
		case answer == "?" && help != "":
			d.draw(helpLine(help))
			continue
		case answer == "":
			answer = standard
		}
		if q.Check != nil {
			if err := q.Check(answer); err != nil {
				d.refuse(err)
				continue
			}
		}
		if mask == 0 {
			d.draw(message + " " + answerColor + CleanLine(answer) + plainText)
		}
		return answer, nil
	}
}

// confirm asks yes or no.
func (d *dialog) confirm(q Question) (bool, error) {
	message, help := head(CleanLine(q.Message)+"?"), CleanLine(q.Help)
	question := message
	if help != "" {
		question += " " + answerColor + "[? for help]" + plainText
	}
	choices, preset := " (Y/n)", "y"
	if q.Default == No {
		choices, preset = " (y/N)", "n"
	}
	question += choices
	for {
		answer, err := d.read(question, 0)
		if err != nil {
			return false, err
		}
		switch cmp.Or(strings.ToLower(strings.TrimSpace(answer)), preset) {
		case "y", "yes":
			d.draw(message + " " + answerColor + "Yes" + plainText)
			return true, nil
		case "n", "no":
			d.draw(message + " " + answerColor + "No" + plainText)
			return false, nil
		case "?":
			if help != "" {
				d.draw(helpLine(help))
				continue
			}
		}
		d.refuse(fmt.Errorf("%q is not a valid answer, please try again", answer))
	}
}

// choose has options chosen, until check accepts them; nil accepts every choice.
func (d *dialog) choose(q Question, l *list, check func() error) error {
	_ = d.cursor.Hide()
	defer func() { _ = d.cursor.Show() }()
	message, help, helping := head(prompt(q.Message)), CleanLine(q.Help), false
	for {
		lines := []string{message + l.filtered() + "  " + answerColor + l.usage(help != "" && !helping) + plainText}
		if helping {
			lines = slices.Insert(lines, 0, helpLine(help))
		}
		d.draw(append(lines, l.rows()...)...)
		key, _, err := d.keys.ReadRune()
		switch {
		case err != nil:
			return err
		case key == terminal.KeyInterrupt:
			return terminal.InterruptErr
		case key == terminal.KeyEndTransmission:
			return io.EOF
		case key == '?' && help != "":
			helping = true
			continue
		case !l.press(key):
			continue
		}
		if check != nil {
			if err := check(); err != nil {
				d.refuse(err)
				continue
			}
		}
		d.draw(message + " " + answerColor + l.answer() + plainText)
		return nil
	}
}
