package trial_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/codegen/trial"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestInstances holds what the cases say of their values to what a validator
// says: the verdict, and that one of its findings is at the pointer, or around
// or inside what it points to: a validator that tries all forms of a union does
// not know which one was meant.
func TestInstances(t *testing.T) {
	cases, err := trial.Load("../../../scaffold/gogen/testdata")
	require.NoError(t, err)
	valid, invalid := 0, 0
	for _, c := range cases {
		for _, i := range c.Instances {
			s, err := schema.Parse(c.Tools[i.Tool].Schema(i.Side))
			if err != nil {
				t.Fatalf("%s, tool %s: %v", c.Name, i.Tool, err)
			}
			err = s.Validate(i.Value)
			if i.Verdict == trial.Valid {
				if valid++; err != nil {
					t.Errorf("%s/instances.txt:%d: %v\n%s", c.Name, i.Line, err, i.Value)
				}
				continue
			}
			invalid++
			found, ok := errors.AsType[*schema.ValidationError](err)
			if !ok {
				t.Errorf("%s/instances.txt:%d: got %v, want it to be refused\n%s", c.Name, i.Line, err, i.Value)
				continue
			}
			at := func(issue schema.Issue) bool {
				return within(issue.Pointer, i.Pointer) || within(i.Pointer, issue.Pointer)
			}
			if i.Verdict == trial.Invalid && !slices.ContainsFunc(found.Issues, at) {
				t.Errorf("%s/instances.txt:%d: want it at %q, got %v\n%s", c.Name, i.Line, i.Pointer, found.Issues, i.Value)
			}
		}
	}
	// Every failure that is accepted is one that a caller meets: there are more
	// of them than of values that pass.
	if valid < 200 || invalid < valid {
		t.Errorf("got %d valid and %d invalid values", valid, invalid)
	}
}

func within(inner, outer string) bool {
	return inner == outer || strings.HasPrefix(inner, outer+"/")
}

func TestEqual(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[2]}`, `{ "b":[2.0], "a":1e0 }`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`1e400`, `10e399`, true},
		{`{"a":null}`, `{}`, false},
		{`"é"`, `"\u00e9"`, true},
		{`[1,2]`, `[2,1]`, false},
		{`0`, `-0.0`, true},
		{`1`, `"1"`, false},
	} {
		if got := trial.Equal([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("%s and %s: got %v", tt.a, tt.b, got)
		}
	}
}
