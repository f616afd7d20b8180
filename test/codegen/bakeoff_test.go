//go:build !race

package main

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestBakeoffVerdicts wants the values of the bake-off to be valid and invalid
// as they are listed.
func TestBakeoffVerdicts(t *testing.T) {
	all, err := contests()
	require.NoError(t, err)
	valid, invalid := 0, 0
	for _, c := range all {
		s, err := schema.Parse(c.Schema)
		require.NoError(t, err)
		for _, v := range c.cases() {
			if err := s.Validate(v.Data); (err == nil) != v.Valid {
				t.Errorf("%s: %s: got %v, want valid %v", c.Name, v.Data, err, v.Valid)
			}
		}
		valid, invalid = valid+len(c.Valid), invalid+len(c.Invalid)
	}
	if len(all) != 10 || valid != 31 || invalid != 32 {
		t.Errorf("got %d schemas, %d valid and %d invalid values, want 10, 31 and 32", len(all), valid, invalid)
	}
}

// TestBakeoff wants generated types to take and give back every valid value of
// the bake-off and to refuse every invalid one.
func TestBakeoff(t *testing.T) {
	t.Parallel()
	all, err := bakeoffOurs(t.Context(), "../..")
	require.NoError(t, err)
	complain := t.Log
	if enforced {
		complain = t.Error
	}
	t.Logf("%+v", sum(all))
	for _, o := range all {
		for _, f := range o.Failures {
			complain(f)
		}
	}
}
