package policies

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// Verdicts, as commands print them.
const (
	allow  = "allow"
	ask    = "ask"
	deny   = "deny"
	hidden = "hidden"
)

// actionKinds are the actions that can be explained, and what they are about.
func actionKinds() map[policy.Action]policy.Kind {
	return map[policy.Action]policy.Kind{policy.Call: policy.Tool, policy.Get: policy.Prompt, policy.Read: policy.Resource}
}

// request is a request that is decided.
type request struct {
	action       policy.Action
	server, name string
	as           string
	principal    *access.Principal
	arguments    []byte
	// seen are labels of the conversation, found those that guards have found.
	seen, found []string
	now         time.Time
	addr        netip.Addr
}

// decision is what the policies say of a request.
type decision struct {
	policy.Explanation
	verdict string
	// deciding are the policies that have decided, by their ids.
	deciding []*policy.Policy
	policies []string
	known    bool // that the server offers the item, or that is not needed
	reads    string
}

// kindOf returns the kind of the item that a request is about. Of a result it is that of the
// item with its name.
func (l *loaded) kindOf(r *request) policy.Kind {
	if kind, ok := actionKinds()[r.action]; ok {
		return kind
	}
	for _, it := range l.items {
		if it.Server == r.server && it.Name == r.name {
			return it.Kind
		}
	}
	if strings.Contains(r.name, ":") {
		return policy.Resource
	}
	return policy.Tool
}

// decide decides a request, as serve does.
func (l *loaded) decide(r *request) decision {
	it := l.item(l.kindOf(r), r.server, r.name)
	d := decision{known: it.Definition != nil || it.Kind == policy.Resource || r.name == ""}
	d.Explanation = l.world.View(r.principal).Explain(r.action, it, &policy.Request{
		Principal: r.principal, Arguments: r.arguments, Seen: r.seen, Found: r.found, Now: r.now, Addr: r.addr, Transport: "http",
	})
	switch d.deciding = d.Outcome.By; {
	case !d.Visible:
		d.verdict = hidden
	case d.Outcome.Verdict == policy.Deny:
		d.verdict = deny
	case d.Outcome.Verdict == policy.Ask:
		d.verdict, d.deciding = ask, d.Outcome.Ask
	default:
		// Also those that hold for every request.
		d.verdict, d.deciding = allow, nil
		for _, a := range d.Policies {
			if a.Permit && a.Holds && !a.Shadow && len(a.Lacks) == 0 {
				d.deciding = append(d.deciding, a.Policy)
			}
		}
	}
	d.policies = ids(d.deciding)
	d.reads = l.reads(it, &d.Explanation)
	return d
}

// reads says whether the policies take a tool for one that only reads, and why; "" where
// nothing is known of it, and of anything that is no tool.
func (l *loaded) reads(it policy.Item, of *policy.Explanation) string {
	switch {
	case l.set == nil || it.Kind != policy.Tool || it.Definition == nil:
		return ""
	case of.ReadOnly && it.Pinned:
		return "yes, by its annotations, which are locked"
	case of.ReadOnly:
		return "yes, by its annotations, which are trusted"
	case of.Believed:
		return "no, its annotations do not say so"
	case policy.ReadOnly(it.Definition, true):
		return "no, its annotations say so, and are not trusted (mcpctl lock " + it.Server + `, or "trustAnnotations": true in the entry)`
	}
	return "no, it has no annotation that says so"
}

// allowed reports whether the request can go on.
func (d *decision) allowed() bool { return d.verdict == allow || d.verdict == ask }

// ExplainOptions are the words and flags of policy explain.
type ExplainOptions struct {
	// Action is call, get or read; Item is SERVER/NAME.
	Action, Item string
	// As is the principal, "" for local, with Groups and Scopes besides its own.
	As             string
	Groups, Scopes []string
	// Arguments are a JSON object, "" for none.
	Arguments string
	// Seen are labels of the conversation.
	Seen []string
	// Record is a request that was recorded: the name of its record, or the number in the
	// log. All others but Arguments are empty then.
	Record string
}

// Explain prints what the policies say of a request, and why. It fails with ErrDenied.
func (p *Command) Explain(ctx context.Context, o ExplainOptions) error {
	l, err := p.load(ctx)
	if err != nil {
		return err
	}
	if err := checkArguments(o.Arguments); err != nil {
		return err
	}
	if o.Record != "" {
		return p.explainRecord(ctx, l, o)
	}
	r := &request{action: policy.Action(o.Action), as: o.As, seen: o.Seen, now: time.Now()}
	if o.As == "" {
		r.as = access.Local
	}
	if r.principal, err = p.principal(o.As, o.Groups, o.Scopes); err != nil {
		return err
	}
	if err := l.about(r, o.Item); err != nil {
		return err
	}
	if o.Arguments != "" {
		r.arguments = []byte(o.Arguments)
	}
	d := l.decide(r)
	unasked, err := l.decideHooks(ctx, r, &d)
	if err != nil {
		return err
	}
	a, err := examine(ctx, p, l, r, &d)
	a.Hooks = unasked
	switch {
	case err != nil:
		return err
	case p.UI.WantJSON():
		err = p.UI.EncodeJSON(p.encoded(l, r, &d, a))
	default:
		err = p.print(l, r, &d, &a)
	}
	if err == nil && !d.allowed() {
		err = ErrDenied
	}
	return err
}

// about finds what a request is about.
func (l *loaded) about(r *request, item string) error {
	if _, known := actionKinds()[r.action]; !known {
		return ui.Usage("unknown action %q", r.action).WithHint("actions are call SERVER/TOOL, get SERVER/PROMPT and read SERVER/URI")
	}
	var found bool
	if r.server, r.name, found = strings.Cut(item, "/"); !found || r.name == "" {
		return ui.Usage("%q names no item of a server", item).WithHint("as in mcpctl policy explain call gh/merge")
	}
	if slices.Contains(l.configured, r.server) {
		return nil
	}
	return ui.Usage("unknown server %q", r.server).WithHint("%s", plain.NearestHint(r.server, l.configured, "mcpctl list shows the configured servers"))
}

// explained is policy explain --json.
type explained struct {
	Verdict   string   `json:"verdict"`
	Reason    string   `json:"reason,omitempty"`
	By        []string `json:"by"`
	Action    string   `json:"action"`
	Server    string   `json:"server"`
	Item      string   `json:"item"`
	Principal string   `json:"principal"`
	Groups    []string `json:"groups"`
	Labels    []string `json:"labels"`
	Scopes    []string `json:"scopes,omitempty"`
	Limits    []string `json:"limits,omitempty"`
	Would     []string `json:"would,omitempty"`
	Around    around   `json:"around"`
	// Listed is false for an item that its server was not seen to offer.
	Listed   bool      `json:"listed"`
	Policies []applied `json:"policies"`
	// OnlyReads says whether the policies take a tool for one that only reads, and why; ""
	// where nothing is known of it.
	OnlyReads string `json:"onlyReads,omitempty"`
}

// applied is one policy of it.
type applied struct {
	shown
	Holds      bool        `json:"holds"`
	Failed     string      `json:"failed,omitempty"`
	Lacks      []string    `json:"lacks,omitempty"`
	Conditions []condition `json:"conditions,omitempty"`
}

type condition struct {
	Text   string            `json:"text"`
	Holds  bool              `json:"holds"`
	Failed string            `json:"failed,omitempty"`
	Values map[string]string `json:"values,omitempty"`
}

// labels returns the labels of an item that have a name: each pattern of a rule is one, too.
func (d *decision) labels() []string {
	return slices.DeleteFunc(slices.Clone(d.Labels), func(l string) bool { return strings.ContainsAny(l, "/*") })
}

func (p *Command) encoded(l *loaded, r *request, d *decision, a around) explained {
	out := explained{
		Around:  a,
		Verdict: d.verdict, Reason: d.Outcome.Reason, By: or(d.policies), Action: string(r.action), Server: r.server, Item: r.name, Principal: r.as,
		Groups: or(d.Groups), Labels: or(d.labels()), OnlyReads: d.reads, Scopes: d.Outcome.Scopes, Limits: ids(d.Outcome.Over), Would: ids(d.Outcome.Would), Listed: d.known, Policies: []applied{},
	}
	for _, a := range d.Policies {
		one := applied{shown: l.shown(a.Policy), Holds: a.Holds, Failed: a.Failed, Lacks: a.Lacks}
		for _, c := range a.Conditions {
			of := condition{Text: c.Text, Holds: c.Holds, Failed: c.Failed}
			for _, v := range c.Values {
				if of.Values == nil {
					of.Values = map[string]string{}
				}
				of.Values[v.Name] = v.Text
			}
			one.Conditions = append(one.Conditions, of)
		}
		out.Policies = append(out.Policies, one)
	}
	return out
}

func (l *loaded) shown(of *policy.Policy) shown {
	return shown{ID: of.ID, Effect: effect(of), Shadow: of.Shadow, File: of.File, Line: of.Line, Words: l.words(of), Reason: of.Reason}
}

func or(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func ids(list []*policy.Policy) (all []string) {
	for _, of := range list {
		all = append(all, of.ID)
	}
	return all
}

// print prints a decision for people, with further lines below the verdict.
func (p *Command) print(l *loaded, r *request, d *decision, others *around, more ...string) error {
	var b strings.Builder
	c := p.UI.Palette()
	line := func(indent int, text string) {
		for _, part := range ui.Wrap(strings.Repeat(" ", indent)+ui.CleanLine(text), p.UI.Width()) {
			b.WriteString(part + "\n")
		}
	}
	head := map[string]string{allow: c.Green("allowed"), ask: c.Yellow("asked"), deny: c.Red("denied"), hidden: c.Red("hidden"), limited: c.Yellow("over a limit"), unknown: c.Yellow("unknown")}[d.verdict]
	fmt.Fprintf(&b, "%s: %s %s as %s\n", head, r.action, ui.CleanLine(r.target()), ui.CleanLine(r.as))
	for _, text := range append(p.because(l, d), more...) {
		line(2, text)
	}
	if !d.known {
		line(2, "What "+r.server+" says of it is not known: mcpctl tools "+r.server+" asks.")
	}
	for _, row := range []struct {
		name string
		list []string
	}{
		{"groups", others.memberships(d.Groups)},
		{"labels", d.labels()},
		{"only reads", one(d.reads)},
		{"seen", r.seen},
		{"left", others.limits(d)},
		{"pin", one(others.Pin)},
		{"credential", one(others.Credential)},
		{"hooks", others.Hooks},
	} {
		if len(row.list) > 0 {
			line(0, row.name+": "+strings.Join(row.list, ", "))
		}
	}
	for i, a := range d.Policies {
		if i == 0 {
			b.WriteString("\nPolicies about it:\n")
		}
		state := "holds"
		switch {
		case a.Failed != "":
			state = "cannot be evaluated: " + a.Failed
		case !a.Holds:
			state = "does not hold"
		case len(a.Lacks) > 0:
			state = "lacks the scope " + strings.Join(a.Lacks, " ")
		case a.Shadow:
			state = "holds, and is a shadow: it does not count"
		}
		line(2, a.ID+" ("+p.place(a.File, a.Line)+") "+state)
		line(4, l.words(a.Policy))
		for _, of := range a.Conditions {
			text := of.Text + map[bool]string{true: ": true", false: ": false"}[of.Holds]
			if of.Failed != "" {
				text = of.Text + ": " + of.Failed
			}
			var values []string
			for _, v := range of.Values {
				values = append(values, v.Name+" = "+v.Text)
			}
			if len(values) > 0 && !of.Holds {
				text += " with " + strings.Join(values, ", ")
			}
			line(6, text)
		}
	}
	_, err := p.UI.Out.Write([]byte(b.String()))
	return err
}

// because says why, in the words of what has decided.
func (p *Command) because(l *loaded, d *decision) (all []string) {
	if l.set == nil && d.verdict == allow {
		return []string{"config.yaml has no section access: everything is allowed"}
	}
	if d.Outcome.Reason != "" && !slices.ContainsFunc(d.Outcome.By, func(of *policy.Policy) bool { return of.Reason == d.Outcome.Reason }) {
		all = append(all, d.Outcome.Reason)
	}
	for _, of := range d.deciding {
		text := l.words(of)
		if of.Reason != "" {
			text = of.Reason + ": " + text
		}
		all = append(all, fmt.Sprintf("%s (%s, %s)", text, of.ID, p.place(of.File, of.Line)))
	}
	if len(d.Outcome.Scopes) > 0 {
		all = append(all, "the credential needs the scopes "+strings.Join(d.Outcome.Scopes, " "))
	}
	for _, of := range d.Outcome.Over {
		all = append(all, fmt.Sprintf("%s counts (%s, %s)", l.words(of), of.ID, p.place(of.File, of.Line)))
	}
	for _, of := range d.Outcome.Would {
		all = append(all, fmt.Sprintf("without shadow it would be denied: %s (%s, %s)", l.words(of), of.ID, p.place(of.File, of.Line)))
	}
	return all
}
