package suite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/google/jsonschema-go/jsonschema" // the test suite is in this module's testdata

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/codegen/suite"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestWrap wants each verdict of the suite to be the same about the member of
// an object, required or not.
func TestWrap(t *testing.T) {
	s, err := suite.Open()
	require.NoError(t, err)
	for _, draft := range suite.Drafts() {
		groups, err := s.Groups(draft)
		require.NoError(t, err)
		var unread []string
		for _, g := range groups {
			for _, required := range []bool{true, false} {
				wrapped, err := g.Wrap(required)
				require.NoError(t, err)
				parsed, err := schema.Parse(wrapped)
				require.NoError(t, err)
				if err := parsed.Sound(); err != nil {
					if required {
						unread = append(unread, g.Name())
					}
					continue
				}
				for _, c := range g.Cases {
					if err := parsed.Validate(suite.Instance(c.Data)); (err == nil) != c.Valid {
						t.Errorf("%s %s: %s: got %v, want valid %v\n%s", draft, g.Name(), c.Description, err, c.Valid, wrapped)
					}
				}
			}
		}
		var want []string
		for _, e := range suite.Exceptions() {
			if e.Draft == draft {
				want = append(want, e.Group)
			}
		}
		if diff := cmp.Diff(want, unread); diff != "" {
			t.Errorf("%s: exceptions (-listed +schemas that refer to other documents):\n%s", draft, diff)
		}
	}
}
