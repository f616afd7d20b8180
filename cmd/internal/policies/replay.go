package policies

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// replayed is a recorded request that would be decided otherwise, or where that is not
// known; an element of policy test --replay --json.
type replayed struct {
	Record string `json:"record"`
	// Number is that in the log, left out for a record of a file.
	Number  *int64   `json:"number,omitempty"`
	Time    string   `json:"t"`
	Request string   `json:"request"`
	Was     string   `json:"was"`
	WasBy   []string `json:"wasBy"`
	Now     string   `json:"now"`
	// By are the policies that decide now; of an unknown verdict those that leave it open.
	By     []string `json:"by"`
	Reason string   `json:"reason,omitempty"`
}

// replay is one run of policy test --replay.
type replay struct {
	*Command
	l *loaded
	// index has the items by what they are.
	index map[itemKey]int

	all, different, unknown int
}

type itemKey struct {
	kind         policy.Kind
	server, name string
}

// Replay decides the requests of a file of records, or of the log for "log", with the
// policies of now, and prints what would be decided otherwise. It fails with ErrDifferent.
func (p *Command) Replay(ctx context.Context, from string, q auditing.Query) error {
	l, err := p.load(ctx)
	if err != nil {
		return err
	}
	r := &replay{Command: p, l: l, index: map[itemKey]int{}}
	for i, it := range l.items {
		r.index[itemKey{it.Kind, it.Server, it.Name}] = i
	}
	out := r.printer()
	err = p.Audit.Each(ctx, from, q, func(e *auditing.Entry) error {
		d, differs := r.decide(ctx, e)
		if !differs {
			return nil
		}
		return out.difference(d)
	})
	if err != nil {
		return err
	}
	if err := out.end(); err != nil {
		return err
	}
	if r.different > 0 {
		return ErrDifferent
	}
	return nil
}

// decide decides a record again, and reports whether there is something to say of it.
func (r *replay) decide(ctx context.Context, e *auditing.Entry) (replayed, bool) {
	of, ok := r.l.again(&e.Record, nil)
	if !ok {
		return replayed{}, false
	}
	r.all++
	if r.same(of, &e.Record) {
		return replayed{}, false
	}
	if of.action == policy.Call {
		of.arguments = r.Audit.Arguments(ctx, e)
	}
	d := r.l.decideRecorded(of, &e.Record)
	if d.verdict != unknown && r.l.agrees(&d, &e.Record) {
		return replayed{}, false
	}
	out := replayed{
		Record: e.Ref(), Time: audit.StampOf(e.Time), Request: fmt.Sprintf("%s %s as %s", of.action, of.target(), of.as),
		Was: was(&e.Record), WasBy: or(e.Decision.By), Now: d.verdict, By: or(d.policies), Reason: d.Outcome.Reason,
	}
	if e.Number >= 0 {
		out.Number = &e.Number
	}
	if d.verdict == unknown {
		r.unknown++
		out.By, out.Reason = or(ids(d.open)), d.whyUnknown(&e.Record)
	} else {
		r.different++
	}
	return out, true
}

// same reports at once of most requests that they are decided as they were: no condition is
// to be evaluated.
func (r *replay) same(of *request, record *audit.Record) bool {
	kind, ok := actionKinds()[of.action]
	if !ok || len(r.l.hooked.all) > 0 || len(record.Principal.Groups) > 0 && record.Principal.Groups[len(record.Principal.Groups)-1] == cut {
		return false
	}
	i, listed := r.index[itemKey{kind, of.server, of.name}]
	if !listed {
		return false
	}
	visible, conditions := r.l.world.View(of.principal).Item(i)
	return conditions == nil && was(record) == map[bool]string{true: allow, false: deny}[visible]
}

// target is what a request is about.
func (r *request) target() string {
	if r.name == "" {
		return r.server
	}
	return r.server + "/" + r.name
}

// whyUnknown says why a verdict is not known.
func (d *recorded) whyUnknown(r *audit.Record) string {
	switch {
	case d.hooked:
		return "what a hook has refused is not kept"
	case len(d.open) == 0:
		return "not all groups of the principal are recorded"
	case r.Kind == audit.KindCall:
		return "they read the arguments, which are not kept, or what no record has"
	}
	return "they read what no record has"
}

// printer writes what a replay finds as it is found.
type printer struct {
	*replay
	json bool
	out  io.Writer
	any  bool
}

func (r *replay) printer() *printer {
	return &printer{replay: r, json: r.UI.WantJSON(), out: r.UI.Out}
}

func (o *printer) difference(d replayed) error {
	if o.json {
		begin := ",\n"
		if !o.any {
			begin = `{"differences":[` + "\n"
		}
		o.any = true
		raw, err := plain.JSON(d)
		if err == nil {
			_, err = o.out.Write(append([]byte(begin), raw...))
		}
		return err
	}
	listing := func(verdict string, ids []string) string {
		if len(ids) == 0 {
			return verdict
		}
		return verdict + " by " + strings.Join(ids, ", ")
	}
	now := listing(d.Now, d.By)
	if d.Reason != "" {
		now += " (" + d.Reason + ")"
	}
	_, err := fmt.Fprintf(o.out, "%s %s: %s\n  was %s, now %s\n", d.Record, d.Time, ui.CleanLine(d.Request), ui.CleanLine(listing(d.Was, d.WasBy)), ui.CleanLine(now))
	return err
}

func (o *printer) end() error {
	if o.json {
		begin := "\n"
		if !o.any {
			begin = `{"differences":[`
		}
		_, err := fmt.Fprintf(o.out, "%s],\"records\":%d,\"different\":%d,\"unknown\":%d}\n", begin, o.all, o.different, o.unknown)
		return err
	}
	c, text := o.UI.Palette(), plain.Count(o.all, "request")
	if o.unknown > 0 {
		text += fmt.Sprintf(", %d unknown", o.unknown)
	}
	head := c.Green("ok")
	if o.different > 0 {
		head, text = c.Red("different"), fmt.Sprintf("%d of ", o.different)+text
	}
	_, err := fmt.Fprintf(o.out, "%s: %s\n", head, text)
	return err
}
