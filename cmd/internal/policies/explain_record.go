package policies

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
)

// ofRecord is what policy explain --record says of the record, beside what policies say now.
type ofRecord struct {
	Record string   `json:"record"`
	Time   string   `json:"t"`
	Was    string   `json:"was"`
	WasBy  []string `json:"wasBy"`
	// Generation are the policies of then; Present says that they are those of now.
	Generation string `json:"gen,omitempty"`
	Present    bool   `json:"present"`
	// Agrees says that the request would be decided as it was; nil for unknown.
	Agrees *bool `json:"agrees"`
	// Open are the policies that leave it unknown.
	Open []string `json:"open,omitempty"`
	why  string
}

// explainRecord prints what the policies say of a request that was recorded. It fails with
// ErrDifferent where that is not what was said then, or else with ErrDenied.
func (p *Command) explainRecord(ctx context.Context, l *loaded, o ExplainOptions) error {
	e, err := p.Audit.Find(ctx, o.Record)
	if err != nil {
		return err
	}
	if e.Kind == audit.KindDone && e.Opening != nil {
		e = e.Opening
	}
	arguments := []byte(o.Arguments)
	if o.Arguments == "" && e.Kind == audit.KindCall {
		arguments = p.Audit.Arguments(ctx, e)
	}
	r, ok := l.again(&e.Record, arguments)
	if !ok {
		return ui.Usage("record %s is about no request: its kind is %s", o.Record, e.Kind).WithHint("mcpctl audit %s shows it", o.Record)
	}
	d := l.decideRecorded(r, &e.Record)
	of := l.ofRecord(e, &d)
	a, err := examine(ctx, p, l, r, &d.decision)
	a.Hooks = d.unasked
	if err != nil {
		return err
	}
	if p.UI.WantJSON() {
		err = p.UI.EncodeJSON(struct {
			ofRecord
			explained
		}{of, p.encoded(l, r, &d.decision, a)})
	} else {
		err = p.print(l, r, &d.decision, &a, of.lines()...)
	}
	switch {
	case err != nil:
		return err
	case of.Agrees != nil && !*of.Agrees:
		return ErrDifferent
	case d.verdict == deny || d.verdict == hidden || d.verdict == limited:
		return ErrDenied
	}
	return nil
}

func (l *loaded) ofRecord(e *auditing.Entry, d *recorded) ofRecord {
	of := ofRecord{
		Record: e.Ref(), Time: audit.StampOf(e.Time), Was: was(&e.Record), WasBy: or(e.Decision.By),
		Generation: e.Decision.Generation, Present: e.Decision.Generation == l.set.Digest(),
	}
	if d.verdict == unknown {
		of.Open, of.why = ids(d.open), d.whyUnknown(&e.Record)
	} else {
		agrees := l.agrees(d, &e.Record)
		of.Agrees = &agrees
	}
	return of
}

// lines says it for people.
func (of *ofRecord) lines() []string {
	was := map[string]string{allow: "allowed", deny: "denied", limited: "over a limit"}[of.Was]
	was = cmp.Or(was, of.Was)
	if len(of.WasBy) > 0 {
		was += " by " + strings.Join(of.WasBy, ", ")
	}
	then := "the policies have changed since"
	if of.Present {
		then = "the policies are still the same"
	}
	all := []string{fmt.Sprintf("record %s, %s: it was %s; %s", of.Record, of.Time, was, then)}
	switch {
	case of.Agrees == nil && len(of.Open) > 0:
		all = append(all, fmt.Sprintf("what would be decided now depends on %s: %s", strings.Join(of.Open, ", "), of.why))
	case of.Agrees == nil:
		all = append(all, "what would be decided now is not known: "+of.why)
	case !*of.Agrees:
		all = append(all, "now it is decided differently")
	}
	return all
}

// checkArguments returns the error of a --args that is no object.
func checkArguments(text string) error {
	var object map[string]json.RawMessage
	if text != "" && json.Unmarshal([]byte(text), &object) != nil {
		return ui.Usage("--args is no JSON object").WithHint(`as in --args '{"path": "/etc/passwd"}'`)
	}
	return nil
}
