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

// who returns who has asked, for people.
func who(r *audit.Record) string {
	if r.Who.Name != "" {
		return r.Who.Name
	}
	return r.Who.ID
}

// what returns what a record is about, for people.
func what(e *Entry) string {
	r := &e.Asked().Record
	parts := []string{string(r.Kind)}
	switch {
	case r.What.Item != "":
		parts = append(parts, r.What.Server+"/"+r.What.Item)
	case r.What.Server != "":
		parts = append(parts, r.What.Server)
	}
	if e.Kind == audit.KindDone && e.Decision == nil {
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
func verdict(e *Entry) string {
	text := e.Said.Verdict
	if len(e.Said.By) > 0 {
		text += " by " + strings.Join(e.Said.By, ", ")
	}
	if len(e.Said.Would) > 0 {
		text += " (would: " + strings.Join(e.Said.Would, ", ") + ")"
	}
	return text
}

// outcome returns what came of a request.
func outcome(r *audit.Record) string {
	if r.Came.Out == "" || r.Came.Took == 0 {
		return r.Came.Out
	}
	return r.Came.Out + " " + took(r.Came.Took)
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

func row(e *Entry) []string {
	return []string{strconv.FormatInt(e.Number, 10), e.Time.Format(shownTime), who(&e.Asked().Record), what(e), verdict(e), outcome(&e.Record)}
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
	c := row(e)
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
func members(e *Entry) (all [][2]string) {
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
	add("what", what(e))
	if r.Of != 0 {
		add("of", r.Run+"-"+strconv.FormatUint(r.Of, 10))
	}
	add("who", r.Who.ID)
	if r.Who.Name != r.Who.ID {
		add("name", r.Who.Name)
	}
	list("groups", r.Who.Groups)
	add("client", r.Who.Client)
	add("via", r.Who.Via)
	if r.Who.Addr.IsValid() {
		add("address", r.Who.Addr.String())
	}
	add("flow", r.Who.Flow)
	add("revision", r.What.Era)
	add("arguments", digest(r.Sent.Digest, r.Sent.Size))
	add("definition", r.What.Definition)
	add("verdict", verdict(e))
	list("scopes needed", r.Said.Scopes)
	list("seen", r.Said.Seen)
	list("found", r.Said.Found)
	add("policies", r.Said.Generation)
	add("outcome", outcome(r))
	add("result", digest(r.Came.ResultDigest, r.Came.ResultSize))
	add("trace", r.What.Trace)
	add("through", r.What.Through)
	return all
}

func digest(of string, size int64) string {
	if of == "" {
		return ""
	}
	return of + ", " + ui.Size(int(size))
}
