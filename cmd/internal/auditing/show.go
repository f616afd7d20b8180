package auditing

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
)

// Ref returns the name of a record, as errors have it in data.record.
func (e *Entry) Ref() string { return e.Run + "-" + strconv.FormatUint(e.N, 10) }

// shownTime is how tables show times, in UTC.
const shownTime = time.DateTime

// principal returns who has asked, for people.
func principal(r *audit.Record) string {
	if r.Principal.Name != "" {
		return r.Principal.Name
	}
	return r.Principal.ID
}

// what returns what a record is about, for people.
func (e *Entry) what() string {
	r := &e.Asked().Record
	parts := []string{string(r.Kind)}
	switch {
	case r.Target.Item != "":
		parts = append(parts, r.Target.Server+"/"+r.Target.Item)
	case r.Target.Server != "":
		parts = append(parts, r.Target.Server)
	}
	if e.Kind == audit.KindDone && e.Opening == nil {
		parts = append(parts, "of "+e.Run+"-"+strconv.FormatUint(e.Of, 10))
	}
	if e.Text != "" {
		parts = append(parts, e.Text)
	}
	if e.Count != 0 {
		parts = append(parts, "("+strconv.FormatInt(e.Count, 10)+")")
	}
	return strings.Join(parts, " ")
}

// verdict returns what policies have said. What an outcome repeats of its decision is left
// out.
func (e *Entry) verdict() string {
	text := e.Decision.Verdict
	if len(e.Decision.By) > 0 {
		text += " by " + strings.Join(e.Decision.By, ", ")
	}
	if len(e.Decision.Would) > 0 {
		text += " (would: " + strings.Join(e.Decision.Would, ", ") + ")"
	}
	return text
}

// outcome returns what came of a request.
func outcome(r *audit.Record) string {
	if r.Outcome.Out == "" || r.Outcome.Took == 0 {
		return r.Outcome.Out
	}
	return r.Outcome.Out + " " + took(r.Outcome.Took)
}

func took(d time.Duration) string {
	const long = 10 * time.Second
	if d < long {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	return ui.Since(d)
}

// paintVerdict colours a verdict, paintOutcome an outcome.
func paintVerdict(p ui.Palette) func(string) string {
	return func(text string) string {
		switch first, _, _ := strings.Cut(text, " "); first {
		case audit.VerdictDeny:
			return p.Red(text)
		case audit.VerdictLimit:
			return p.Yellow(text)
		}
		return text
	}
}

func paintOutcome(p ui.Palette) func(string) string {
	return func(text string) string {
		if first, _, _ := strings.Cut(text, " "); first != "" && first != audit.OutOK {
			return p.Red(text)
		}
		return text
	}
}

// columns of the table of records.
const (
	columnTime    = 1
	columnWhat    = 3
	columnVerdict = 4
	columnOutcome = 5
)

func (e *Entry) row() []string {
	return []string{strconv.FormatInt(e.Number, 10), e.Time.Format(shownTime), principal(&e.Asked().Record), e.what(), e.verdict(), outcome(&e.Record)}
}

// table writes rows of records.
func table(u *ui.UI, rows [][]string) error {
	return u.Table(ui.Table{
		Headers: []string{"NUMBER", "TIME (UTC)", "WHO", "WHAT", "VERDICT", "OUTCOME"}, Rows: rows, Keep: []int{columnTime, columnWhat, columnVerdict},
		Paint: map[int]func(string) string{columnVerdict: paintVerdict(u.Palette()), columnOutcome: paintOutcome(u.Palette())},
	})
}

// line writes a record on one line, for those who follow the log.
func line(u *ui.UI, e *Entry) error {
	c := e.row()
	parts := []string{c[0], c[1]}
	for i, text := range c[2:] {
		text = ui.CleanLine(text)
		switch i + 2 {
		case columnVerdict:
			text = paintVerdict(u.Palette())(text)
		case columnOutcome:
			text = paintOutcome(u.Palette())(text)
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	_, err := fmt.Fprintln(u.Out, strings.Join(parts, "  "))
	return err
}

// members returns the members of a record for people, each with its name.
func (e *Entry) members() (all [][2]string) {
	add := func(name, text string) {
		if text != "" {
			all = append(all, [2]string{name, text})
		}
	}
	list := func(name string, texts []string) { add(name, strings.Join(texts, ", ")) }
	r := &e.Record
	add("record", e.Ref())
	if e.Number >= 0 {
		add("number", strconv.FormatInt(e.Number, 10))
	}
	add("time", audit.StampOf(r.Time))
	add("what", e.what())
	if r.Of != 0 {
		add("of", r.Run+"-"+strconv.FormatUint(r.Of, 10))
	}
	add("who", r.Principal.ID)
	if r.Principal.Name != r.Principal.ID {
		add("name", r.Principal.Name)
	}
	list("groups", r.Principal.Groups)
	add("client", r.Principal.Client)
	add("via", r.Principal.Via)
	if r.Principal.Addr.IsValid() {
		add("address", r.Principal.Addr.String())
	}
	add("flow", r.Principal.Flow)
	add("revision", r.Target.Era)
	add("arguments", digest(r.Arguments.Digest, r.Arguments.Size))
	add("definition", r.Target.Definition)
	add("verdict", e.verdict())
	list("scopes needed", r.Decision.Scopes)
	list("seen", r.Decision.Seen)
	list("found", r.Decision.Found)
	add("policies", r.Decision.Generation)
	add("outcome", outcome(r))
	add("result", digest(r.Outcome.ResultDigest, r.Outcome.ResultSize))
	add("trace", r.Target.Trace)
	add("through", r.Target.Through)
	return all
}

func digest(of string, size int64) string {
	if of == "" {
		return ""
	}
	return of + ", " + ui.Size(int(size))
}
