//go:build !race

package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/codegen/trial"
	"github.com/mcpctl/mcpctl/test/require"
)

// What TestRandom tries; `make codegen-random` tries more.
var (
	randomSchemas = flag.Int("random-schemas", 200, "how many random schemas TestRandom compiles")
	randomValues  = flag.Int("random-values", 40, "how many values it makes for each")
	randomSeed    = flag.Uint64("random-seed", 1, "where they start")
)

// TestRandom compiles types of random schemas into one program and tries them
// on random values, which a validator has judged: a valid one decodes, passes
// Validate and is equal when it is written again; an invalid one is refused, at
// the place that the validator names, or around it, inside it or beside it. Of results,
// only valid ones are tried, for servers add to them.
func TestRandom(t *testing.T) {
	p := newProgram(modulePath, "../..", t.TempDir())
	var tools []runtime.Tool
	var cases []randomCase
	failed := map[string]bool{} // one failure a schema
	for seed := *randomSeed; len(tools) < *randomSchemas; seed++ {
		src := trial.Seeded(seed)
		raw := trial.Schema(src, seed%4 == 0)
		s, err := schema.Parse(raw)
		if err != nil || s.Sound() != nil {
			continue // nothing can be said of its values
		}
		side := inArguments
		made := tool(fmt.Sprintf("t%05d", seed), raw, nil)
		if seed%5 == 0 {
			side, made = inResult, tool(made.Name, nil, raw)
		}
		tools = append(tools, made)
		for _, v := range trial.Instances(src, raw, *randomValues) {
			if verdict, sure := check(s, v); sure {
				cases = append(cases, randomCase{made.Name, side, string(raw), v, verdict})
			}
		}
	}
	out, err := generate(p, "random", tools)
	require.NoError(t, err)
	for _, made := range tools {
		types := out.types[made.Name]
		for side, name := range map[string]string{inArguments: types.params, inResult: types.result} {
			if name != "" {
				p.subject(made.Name+side, goType{"random", name})
			}
		}
	}
	cases = slices.DeleteFunc(cases, func(c randomCase) bool {
		if _, ok := p.subjects[c.tool+c.side]; !ok {
			if !failed[c.tool] {
				t.Errorf("%s (%s) has no type\n\tschema %s", c.tool, c.side, c.schema)
			}
			failed[c.tool] = true
			return true
		}
		return false
	})
	exe, err := p.build(t.Context())
	require.NoError(t, err)
	questions := make([]question, len(cases))
	for i, c := range cases {
		questions[i] = question{c.tool + c.side, c.value}
	}
	replies, err := run(t.Context(), exe, questions)
	require.NoError(t, err)
	valid, invalid := 0, 0
	for i, c := range cases {
		if len(c.issues) == 0 {
			valid++
		} else {
			invalid++
		}
		if why := c.wrong(replies[i]); why != "" && !failed[c.tool] {
			failed[c.tool] = true
			t.Errorf("%s (%s): %s\n\tvalue  %s\n\tschema %s", c.tool, c.side, why, c.value, c.schema)
		}
	}
	t.Logf("%d schemas, %d valid values, %d invalid ones; %d schemas failed", len(tools), valid, invalid, len(failed))
	if len(cases) > 100 && (valid < len(cases)/5 || invalid < len(cases)/5) {
		t.Error("too one-sided to say much")
	}
}

// randomCase is a value for the type of one schema; issues are what is wrong
// with it.
type randomCase struct {
	tool, side, schema string
	value              []byte
	issues             []schema.Issue
}

// check asks the validator, which may give up on a schema.
func check(s *schema.Schema, value []byte) (issues []schema.Issue, sure bool) {
	err := s.Validate(value)
	if found, ok := errors.AsType[*schema.ValidationError](err); ok {
		return found.Issues, true
	}
	return nil, err == nil
}

// wrong says what is wrong with a reply, "" where nothing is.
func (c randomCase) wrong(r reply) string {
	switch {
	case r.Panic != "":
		return "panic: " + r.Panic
	case len(c.issues) > 0 && c.side == inResult:
		return ""
	case len(c.issues) > 0 && r.Decode == "" && r.Validate == "":
		return fmt.Sprintf("accepted, though invalid: %v", c.issues)
	case len(c.issues) > 0:
		refusal := r.Decode + r.Validate
		if r.Decode != "" {
			refusal = r.Decode
		}
		at := ""
		if rest, ok := strings.CutPrefix(refusal, "at "); ok {
			at, _, _ = strings.Cut(rest, ": ")
		}
		// The validator may take another form of a union for the one that was
		// meant: its finding is then beside ours, in the same object.
		object := at[:max(strings.LastIndex(at, "/"), 0)]
		for _, i := range c.issues {
			if around(at, i.Pointer) || around(i.Pointer, at) || object != "" && around(object, i.Pointer) {
				return ""
			}
		}
		return fmt.Sprintf("refused with %q, elsewhere than %v", refusal, c.issues)
	case r.Decode != "":
		return "refused when decoded: " + r.Decode
	case r.Validate != "":
		return "refused by Validate: " + r.Validate
	case r.Encode != "":
		return "not encoded: " + r.Encode
	case !trial.Equal(c.value, r.Out):
		return "changed: written again as " + string(r.Out)
	}
	return ""
}

func around(outer, inner string) bool {
	return inner == outer || strings.HasPrefix(inner, outer+"/")
}
