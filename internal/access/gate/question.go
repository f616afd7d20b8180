package gate

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// QuestionTime is how long a person may take to answer.
const QuestionTime = TTL

// maxNameShown bounds the name of an item in a question, in bytes.
const maxNameShown = 200

// Question is what a person is asked before a request goes on.
type Question struct {
	// Text is what is asked, IDs the policies that ask.
	Text string
	IDs  []string
	// PerFlow says that a yes counts for the rest of the conversation.
	PerFlow bool
	// Arguments are those of the call, raw; nil for none.
	Arguments []byte

	d        *decision
	policies []*policy.Policy
}

// question returns what is asked for policies, nil where a person has allowed it before.
func (d *decision) question(asks []*policy.Policy) *Question {
	q := &Question{d: d, PerFlow: true, Arguments: d.use.Arguments}
	var texts []string
	for _, p := range asks {
		if p.PerFlow && d.g.flows.Agreed(d.use.Now, d.flow, d.remembered(p)) {
			d.agree(p)
			continue
		}
		q.policies = append(q.policies, p)
		q.PerFlow = q.PerFlow && p.PerFlow
		if !d.Quiet {
			q.IDs = append(q.IDs, p.ID)
		}
		text := d.fill(p.Question)
		if len(texts) == 0 || texts[len(texts)-1] != text {
			texts = append(texts, text)
		}
	}
	q.Text = strings.Join(texts, "\n")
	if len(q.policies) > 0 && !d.g.Consent.Take(d.use.Now, q.consent()) {
		return q
	}
	d.agree(q.policies...)
	return nil
}

// agree notes that a person has said yes to what policies ask: they are among those that have
// decided.
func (d *decision) agree(all ...*policy.Policy) {
	d.use.agreed = append(d.use.agreed, all...)
	d.use.By = append(slices.Clip(d.use.By), all...)
}

// fill returns a question with the names of what it is about.
func (d *decision) fill(text string) string {
	item := plain.Clip(plain.Line(d.use.Item), maxNameShown)
	return strings.NewReplacer("{tool}", item, "{prompt}", item, "{server}", plain.Line(d.use.Server)).Replace(text)
}

// remembered is under what a yes for the rest of a conversation is remembered: it counts
// for the same question of the same policies.
func (d *decision) remembered(p *policy.Policy) string {
	return d.Set.Digest() + "\x00" + p.ID + "\x00" + d.fill(p.Question)
}

// consent returns the call as people are asked about it on a page.
func (q *Question) consent() ApprovalRequest {
	u := q.d.use
	r := ApprovalRequest{Server: u.Server, Item: u.Item, Arguments: u.Arguments, Text: q.Text, IDs: q.IDs}
	if u.Principal != nil {
		r.Principal, r.Name = u.Principal.ID, u.Principal.Name
	}
	return r
}

// Answer is what came of a question to a person.
type Answer uint8

// Answers.
const (
	No Answer = iota
	Yes
	// TimedOut is that nobody has answered within QuestionTime, Unasked that the client cannot
	// ask anybody.
	TimedOut
	Unasked
)

// Answered takes what came of a question. Nil lets the request pass; the error is a
// *access.Denied, with the page on which the person can allow the call where the client
// cannot ask them.
func (g *Gate) Answered(q *Question, a Answer) error {
	d := q.d
	if a == Yes {
		d.agree(q.policies...)
		for _, p := range q.policies {
			if p.PerFlow {
				g.flows.Agree(time.Now(), d.use.Owner, d.flow, d.remembered(p))
			}
		}
		return nil
	}
	d.use.By = q.policies
	var reason string
	switch a {
	case TimedOut:
		reason = "nobody has allowed it within " + plain.Count(int(QuestionTime/time.Minute), "minute") + "; call again to be asked again"
	case Unasked:
		reason = "a person has to allow it, and nobody can be asked here: use a client with elicitation, or mcpctl on a terminal"
	default:
		reason = "a person has said no"
	}
	denied := d.denied(reason, q.policies)
	denied.Reason = reason // that nobody was asked is no secret
	if page := g.page.Load(); a == Unasked && page != nil && d.use.Principal != nil {
		if id := g.Consent.Ask(time.Now(), q.consent()); id != "" {
			denied.URL = (*page)(id, d.use.Principal.ID)
			denied.Reason = "a person has to allow it"
		}
	}
	return denied
}
