package auditing

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// Query says which records are meant: those for which all members hold that are set.
type Query struct {
	// Who is an ID, a name, or what is behind the issuer in an ID; Server, Tool, Flow and By
	// are a server, an item, a conversation and a policy. In each, * is any text.
	Who, Server, Tool, Flow, By string
	// Kinds and Verdicts are those of which the record has one.
	Kinds, Verdicts []string
	// Since and Until are a time, or how long ago.
	Since, Until string
	// Errors has those alone that were refused, or have failed.
	Errors bool
	// Brief is a table of one row a request. Without Kinds it leaves out what mcpctl does by
	// itself: starts, stops, and lists that were not refused.
	Brief bool
}

// filter is a Query that was understood. It remembers the decisions whose outcome may follow
// in another record, so records are to be tried in their order.
type filter struct {
	principal, server, tool, flow, policy *regexp.Regexp
	kinds, verdicts                       []string
	since, until                          time.Time
	errors, brief                         bool
	// needles are what the bytes of a record must have that says itself who asked for what.
	needles [][]byte
	open    [2]map[decisionID]*Entry
}

// Entry is a record, as it is read.
type Entry struct {
	// Number is that in the log, from 0; -1 for unknown.
	Number int64
	// Raw are its bytes, valid until the next entry.
	Raw []byte
	audit.Record
	// Opening is what the outcome in a KindDone is of, nil for unknown.
	Opening *Entry

	log *logfile.Log // that it is of, nil for none
}

// Asked returns the entry that says who has asked for what: that of the decision of an
// outcome.
func (e *Entry) Asked() *Entry {
	if e.Opening != nil {
		return e.Opening
	}
	return e
}

// decisionID names a decision: the run, and the number in it.
type decisionID struct {
	run string
	n   uint64
}

// maxOpen is how many decisions without an outcome are remembered, twice: beyond that, the
// oldest are forgotten, and outcomes of theirs are shown only where nothing but the
// time, the kind or errors is asked for.
const maxOpen = 16 << 10

// Kinds returns the values of --kind: the names of all kinds of records.
func Kinds() []string {
	return []string{
		string(audit.KindCall), string(audit.KindGet), string(audit.KindRead), string(audit.KindQuestion), string(audit.KindLink),
		string(audit.KindOperate), string(audit.KindDeliver), string(audit.KindDone), string(audit.KindAuth), string(audit.KindList),
		string(audit.KindPolicy), string(audit.KindPin), string(audit.KindToken), string(audit.KindApprove), string(audit.KindAudit),
		string(audit.KindStart), string(audit.KindStop), string(audit.KindRotate), string(audit.KindGap), string(audit.KindPrune),
	}
}

// Verdicts returns the values of --verdict.
func Verdicts() []string {
	return []string{audit.VerdictAllow, audit.VerdictDeny, audit.VerdictLimit}
}

// filter understands a Query. The error is one of usage.
func (q *Query) filter(now time.Time) (*filter, error) {
	f := &filter{kinds: q.Kinds, verdicts: q.Verdicts, errors: q.Errors, brief: q.Brief}
	for flag, of := range map[string]struct{ given, possible []string }{"kind": {q.Kinds, Kinds()}, "verdict": {q.Verdicts, Verdicts()}} {
		for _, word := range of.given {
			if slices.Contains(of.possible, word) {
				continue
			}
			e := ui.Usage("--%s %q: there are %s", flag, word, strings.Join(of.possible, ", "))
			if near := plain.Nearest(word, of.possible, 1); len(near) > 0 {
				e = e.WithHint("did you mean %s?", near[0])
			}
			return nil, e
		}
	}
	for _, of := range []struct {
		text, member string
		to           **regexp.Regexp
	}{{q.Who, "", &f.principal}, {q.Server, "server", &f.server}, {q.Tool, "item", &f.tool}, {q.Flow, "flow", &f.flow}, {q.By, "", &f.policy}} {
		if of.text == "" {
			continue
		}
		var err error
		if *of.to, err = find.Glob(of.text); err != nil {
			return nil, ui.Usage("%q cannot be a pattern: %w", of.text, err)
		}
		if of.member != "" && !strings.ContainsAny(of.text, "*?") && (of.member != "item" || !strings.Contains(of.text, "/")) {
			f.needles = append(f.needles, member(of.member, of.text))
		}
	}
	var err error
	if f.since, err = moment("since", q.Since, now); err != nil {
		return nil, err
	}
	f.until, err = moment("until", q.Until, now)
	return f, err
}

// member returns a member of a record as its bytes have it: a quote never stands unescaped
// in a string, so nothing else can look like it.
func member(name, value string) []byte {
	quoted, err := json.Marshal(value)
	if err != nil || bytes.ContainsAny(quoted, `\`) {
		return nil // escapes may be written in several ways
	}
	return slices.Concat([]byte(`"`+name+`":`), quoted)
}

// moment reads a time, or how long ago it was; zero for "".
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := settings.ParseDays(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, ui.Usage("--%s %q is not a time", flag, text).WithHint("as in --%s 2h, --%s 7d or --%s 2026-11-22T09:00:00Z; without a zone it is UTC", flag, flag, flag)
}

// all reports whether every record is meant.
func (f *filter) all() bool { return f.unlimited() && !f.brief }

// everyday reports whether all records are meant but those that brief leaves out: they are at the
// end of the log.
func (f *filter) everyday() bool { return f.unlimited() && f.brief }

// unlimited reports whether nothing but brief leaves records out.
func (f *filter) unlimited() bool {
	return f.principal == nil && f.server == nil && f.tool == nil && f.flow == nil && f.policy == nil && f.kinds == nil && f.verdicts == nil &&
		f.since.IsZero() && f.until.IsZero() && !f.errors
}

// forget starts again: records are tried again.
func (f *filter) forget() { f.open = [2]map[decisionID]*Entry{} }

// match reports whether an entry is meant. That of an outcome gets the decision, if that was
// tried before.
func (f *filter) match(e *Entry) bool {
	if e.Kind == audit.KindDone {
		e.Opening = f.decision(&e.Record)
	} else if e.Outcome.Out == "" && e.Decision.Verdict != audit.VerdictDeny && e.Decision.Verdict != audit.VerdictLimit {
		f.remember(e)
	}
	asked := e.Asked()
	if f.brief && f.kinds == nil && !failed(&e.Record) && slices.Contains([]audit.Kind{audit.KindStart, audit.KindStop, audit.KindList}, asked.Kind) {
		return false
	}
	if f.kinds != nil && !slices.Contains(f.kinds, string(asked.Kind)) && !slices.Contains(f.kinds, string(e.Kind)) {
		return false
	}
	return f.about(&asked.Record) && f.within(e.Time) && (!f.errors || failed(&e.Record))
}

// about reports whether a record has the asker, the item and the verdict that are meant.
func (f *filter) about(r *audit.Record) bool {
	matches := func(re *regexp.Regexp, text string) bool { return re == nil || text != "" && re.MatchString(text) }
	if f.principal != nil {
		_, subject, _ := strings.Cut(r.Principal.ID, "|")
		if !matches(f.principal, r.Principal.ID) && !matches(f.principal, r.Principal.Name) && !matches(f.principal, subject) {
			return false
		}
	}
	if f.policy != nil && !slices.ContainsFunc(r.Decision.By, func(id string) bool {
		rule, _, _ := strings.Cut(id, ".") // a rule may have become several policies
		return matches(f.policy, id) || matches(f.policy, rule)
	}) {
		return false
	}
	return matches(f.server, r.Target.Server) && (matches(f.tool, r.Target.Item) || matches(f.tool, r.Target.Server+"/"+r.Target.Item)) && matches(f.flow, r.Principal.Flow) &&
		(f.verdicts == nil || slices.Contains(f.verdicts, r.Decision.Verdict))
}

func (f *filter) within(t time.Time) bool {
	return (f.since.IsZero() || !t.Before(f.since)) && (f.until.IsZero() || t.Before(f.until))
}

// failed reports whether a record is of something that was refused, or has failed.
func failed(r *audit.Record) bool {
	switch {
	case r.Decision.Verdict == audit.VerdictDeny || r.Decision.Verdict == audit.VerdictLimit:
		return true
	case r.Kind == audit.KindAuth || r.Kind == audit.KindGap:
		return true
	}
	return r.Outcome.Out != "" && r.Outcome.Out != audit.OutOK
}

// isDecision reports whether a kind is that of a request.
func isDecision(k audit.Kind) bool {
	return slices.Contains([]audit.Kind{audit.KindCall, audit.KindGet, audit.KindRead, audit.KindQuestion, audit.KindLink, audit.KindOperate, audit.KindDeliver}, k)
}

// remember keeps what a decision is about, for the record of its outcome.
func (f *filter) remember(e *Entry) {
	if !isDecision(e.Kind) {
		return
	}
	if len(f.open[0]) >= maxOpen || f.open[0] == nil {
		f.open[0], f.open[1] = make(map[decisionID]*Entry), f.open[0]
	}
	f.open[0][decisionID{e.Run, e.N}] = &Entry{Number: e.Number, Record: e.Record}
}

// decision returns the decision that an outcome is of, nil for unknown.
func (f *filter) decision(r *audit.Record) *Entry {
	id := decisionID{r.Run, r.Of}
	for _, open := range f.open {
		if of := open[id]; of != nil {
			delete(open, id)
			return of
		}
	}
	return nil
}

// skips reports whether the bytes of a record say that it is not meant, and that no outcome
// of it can be: it need not be read.
func (f *filter) skips(raw []byte) bool {
	if bytes.Contains(raw, []byte(`"kind":"done"`)) {
		return false
	}
	for _, n := range f.needles {
		if !bytes.Contains(raw, n) {
			return true
		}
	}
	return false
}
