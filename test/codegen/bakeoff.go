package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/codegen/suite"
)

// Ten schemas in the forms that real servers have, each with values for it.
// The verdicts are those of two independent validators.
//
//go:embed testdata/bakeoff.json
var bakeoffText []byte

// contest is one schema of the bake-off.
type contest struct {
	Name    string            `json:"name"`
	What    string            `json:"what"`
	Schema  json.RawMessage   `json:"schema"`
	Valid   []json.RawMessage `json:"valid"`
	Invalid []json.RawMessage `json:"invalid"`
}

func contests() ([]contest, error) {
	var all []contest
	if err := json.Unmarshal(bakeoffText, &all); err != nil {
		return nil, fmt.Errorf("read the bake-off: %w", err)
	}
	return all, nil
}

// outcome is what one generator made of one schema.
type outcome struct {
	Contest  contest
	Tally    tally
	Failures []failure
}

// cases are a contest's values in the suite's form.
func (c contest) cases() []suite.Case {
	var all []suite.Case
	for _, v := range c.Valid {
		all = append(all, suite.Case{Description: string(v), Data: v, Valid: true})
	}
	for _, v := range c.Invalid {
		all = append(all, suite.Case{Description: string(v), Data: v})
	}
	return all
}

// bakeoffOurs tries our own generator with the ten schemas, as arguments.
func bakeoffOurs(ctx context.Context, root string) ([]outcome, error) {
	all, err := contests()
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "mcpctl-codegen-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	p := newProgram(modulePath, root, work)
	for _, c := range all {
		// A package each, as the other generators have it: names do not meet.
		g, err := generate(p, c.Name, []runtime.Tool{tool(c.Name, c.Schema, nil)})
		if err != nil {
			return nil, err
		}
		if t := g.types[c.Name]; t.params != "" {
			p.subject(c.Name, goType{c.Name, t.params})
		}
	}
	return bakeoffRun(ctx, p, all)
}

// bakeoffPeer does the same with another generator.
func bakeoffPeer(ctx context.Context, g peer, root string) ([]outcome, error) {
	all, err := contests()
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "mcpctl-codegen-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	schemas := map[string]json.RawMessage{}
	for _, c := range all {
		schemas[c.Name] = c.Schema
	}
	p, _, _, err := peerProgram(ctx, g, root, work, schemas)
	if err != nil {
		return nil, err
	}
	return bakeoffRun(ctx, p, all)
}

func bakeoffRun(ctx context.Context, p *program, all []contest) ([]outcome, error) {
	exe, err := p.build(ctx)
	if err != nil {
		return nil, err
	}
	var outcomes []outcome
	for _, c := range all {
		o := outcome{Contest: c, Tally: tally{Groups: 1}}
		var questions []question
		for _, v := range c.cases() {
			questions = append(questions, question{c.Name, v.Data})
		}
		replies, err := ask(ctx, p, exe, questions)
		if err != nil {
			return nil, err
		}
		if replies[0].Missing {
			o.Tally.NoCode++
		}
		for i, v := range c.cases() {
			if why := o.Tally.count(v, v.Data, replies[i], false); why != "" {
				o.Failures = append(o.Failures, failure{suite.Group{File: "bakeoff", Description: c.What, Schema: c.Schema}, inArguments, v, why, replies[i]})
			}
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// sum adds tallies.
func sum(outcomes []outcome) tally {
	var t tally
	for _, o := range outcomes {
		t.Groups += o.Tally.Groups
		t.NoCode += o.Tally.NoCode
		t.Valid += o.Tally.Valid
		t.Accepted += o.Tally.Accepted
		t.RoundTripped += o.Tally.RoundTripped
		t.Invalid += o.Tally.Invalid
		t.Rejected += o.Tally.Rejected
	}
	return t
}
