//go:build !race

package main

import (
	"testing"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
	"github.com/mcpctl/mcpctl/test/require"
)

// enforced is set: the generator holds all of it.
const enforced = true

// TestSuite wants of generated types, for every group of the JSON Schema test
// suite as a member of arguments, of optional arguments and of a result: all
// valid values accepted, all of them equal when they are written again, and
// all invalid values rejected, but for the exceptions of package suite.
func TestSuite(t *testing.T) {
	t.Parallel()
	s, err := suite.Open()
	require.NoError(t, err)
	all, err := checkOurs(t.Context(), s, "../..")
	require.NoError(t, err)
	for _, j := range all {
		c := j.Tally
		t.Logf("%s, %s: %d groups (%d without a type, %d raw), valid %d accepted %d round-tripped %d, invalid %d rejected %d, excepted %d",
			j.Draft, j.Place, c.Groups, c.NoCode, c.Raw, c.Valid, c.Accepted, c.RoundTripped, c.Invalid, c.Rejected, c.Excepted)
		if c.NoCode > 0 {
			t.Errorf("%s, %s: %d groups have no type", j.Draft, j.Place, c.NoCode)
		}
		for _, f := range j.Failures {
			if enforced {
				t.Error(f)
			} else {
				t.Log(f)
			}
		}
	}
}
