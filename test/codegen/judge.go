package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/codegen/suite"
)

// Places that a schema of the suite is put to, each a type of its own.
const (
	inArguments = "arguments"
	inOptional  = "optional arguments"
	inResult    = "result"
)

func places() []string { return []string{inArguments, inOptional, inResult} }

// judged is what came out for one draft and place.
type judged struct {
	Draft    suite.Draft
	Place    string
	Tally    tally
	Plain    tally // of the groups without references alone
	Failures []failure
}

// checkOurs generates clients for all groups of both drafts, compiles them into
// one program and tries every case.
func checkOurs(ctx context.Context, s *suite.Suite, root string) ([]judged, error) {
	work, err := os.MkdirTemp("", "mcpctl-codegen-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	p := newProgram(modulePath, root, work)
	type subject struct {
		group suite.Group
		place string
	}
	var order []subject
	tallies := map[suite.Draft]map[string]*judged{}
	for _, draft := range suite.Drafts() {
		groups, err := s.Groups(draft)
		if err != nil {
			return nil, err
		}
		tallies[draft] = map[string]*judged{}
		for _, place := range places() {
			tallies[draft][place] = newJudged(draft, place, groups)
		}
		pkg := "suite7"
		if draft == suite.Draft2020 {
			pkg = "suite2020"
		}
		var tools []runtime.Tool
		for i, g := range groups {
			required, err := g.Wrap(true)
			if err != nil {
				return nil, err
			}
			optional, err := g.Wrap(false)
			if err != nil {
				return nil, err
			}
			tools = append(tools, tool(fmt.Sprintf("group_%03d", i), required, required), tool(fmt.Sprintf("optional_%03d", i), optional, nil))
		}
		out, err := generate(p, pkg, tools)
		if err != nil {
			return nil, err
		}
		for i, g := range groups {
			both, optional := out.types[fmt.Sprintf("group_%03d", i)], out.types[fmt.Sprintf("optional_%03d", i)]
			for place, name := range map[string]string{inArguments: both.params, inResult: both.result, inOptional: optional.params} {
				if name == "" {
					tallies[draft][place].note(g, func(t *tally) { t.NoCode++ })
					continue
				}
				p.subject(key(g, place), goType{pkg, name})
			}
		}
		for _, g := range groups {
			for _, place := range places() {
				if _, ok := p.subjects[key(g, place)]; ok {
					order = append(order, subject{g, place})
				}
			}
		}
	}
	exe, err := p.build(ctx)
	if err != nil {
		return nil, err
	}
	var questions []question
	for _, s := range order {
		for _, c := range s.group.Cases {
			questions = append(questions, question{key(s.group, s.place), suite.Instance(c.Data)})
		}
	}
	replies, err := run(ctx, exe, questions)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, s := range order {
		j := tallies[s.group.Draft][s.place]
		for i, c := range s.group.Cases {
			r := replies[n]
			if i == 0 && isRaw(r.Raw) {
				j.note(s.group, func(t *tally) { t.Raw++ })
			}
			j.count(s.group, c, questions[n].Data, r)
			n++
		}
	}
	var all []judged
	for _, draft := range suite.Drafts() {
		for _, place := range places() {
			all = append(all, *tallies[draft][place])
		}
	}
	return all, nil
}

func newJudged(d suite.Draft, place string, groups []suite.Group) *judged {
	j := &judged{Draft: d, Place: place}
	for _, g := range groups {
		j.note(g, func(t *tally) { t.Groups++ })
	}
	return j
}

// note changes the tallies that a group belongs to.
func (j *judged) note(g suite.Group, change func(*tally)) {
	change(&j.Tally)
	if !g.Refers() {
		change(&j.Plain)
	}
}

// count takes a reply into account.
func (j *judged) count(g suite.Group, c suite.Case, data []byte, r reply) {
	why := ""
	j.note(g, func(t *tally) { why = t.count(c, data, r, isException(g)) })
	if why != "" {
		j.Failures = append(j.Failures, failure{g, j.Place, c, why, r})
	}
}

func key(g suite.Group, place string) string {
	return fmt.Sprintf("%s/%s/%d/%s", g.Draft, g.File, g.Index, place)
}

func isException(g suite.Group) bool {
	for _, e := range suite.Exceptions() {
		if e.Draft == g.Draft && e.Group == g.Name() {
			return true
		}
	}
	return false
}
