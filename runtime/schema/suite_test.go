package schema_test

import (
	"errors"
	"testing"

	_ "github.com/google/jsonschema-go/jsonschema" // the test suite is in this module's testdata

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/codegen/suite"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestSuite wants every required verdict of the JSON Schema test suite, both
// with the documents that the suite keeps at addresses and, as in the product,
// without any.
func TestSuite(t *testing.T) {
	s, err := suite.Open()
	require.NoError(t, err)
	remotes, err := s.Remotes()
	require.NoError(t, err)
	for _, draft := range suite.Drafts() {
		groups, err := s.Groups(draft)
		require.NoError(t, err)
		cases := 0
		for _, g := range groups {
			parsed, err := schema.Parse(g.Declared())
			if err != nil {
				t.Errorf("%s %s: %v", draft, g.Name(), err)
				continue
			}
			parsed.Offer(remotes)
			for _, c := range g.Cases {
				cases++
				err := parsed.Validate(c.Data)
				var invalid *schema.ValidationError
				if err != nil && !errors.As(err, &invalid) {
					t.Errorf("%s %s: %s: %v", draft, g.Name(), c.Description, err)
				} else if got := err == nil; got != c.Valid {
					t.Errorf("%s %s: %s: got valid %v, want %v (%v)\nschema %s\nvalue %s", draft, g.Name(), c.Description, got, c.Valid, err, g.Schema, c.Data)
				}
			}
		}
		t.Logf("%s: %d groups, %d cases", draft, len(groups), cases)
	}
}
