package build_test

import (
	"encoding/json"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/build"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/test/codegen/suite"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestSuiteBuilds builds every group of JSON-Schema-Test-Suite as a member of an
// object. test/codegen judges whether the types are right; here each has to have
// parameters, and few of them raw JSON.
func TestSuiteBuilds(t *testing.T) {
	s, err := suite.Open()
	require.NoError(t, err)
	for _, draft := range suite.Drafts() {
		groups, err := s.Groups(draft)
		require.NoError(t, err)
		raw, checked := 0, 0
		for _, g := range groups {
			text, err := g.Wrap(true)
			require.NoError(t, err)
			p := buildOne(t, text)
			d := p.Tools[0].Params
			if d == nil {
				t.Errorf("%s, %s: no parameters: %v", draft, g.Name(), p.Warnings)
				continue
			}
			if d.Schema != "" {
				checked++
			}
			if d.Fields[0].Presence != model.Constant && d.Fields[0].Type.Why != "" {
				raw++
				t.Logf("%s: %s", g.Name(), d.Fields[0].Type.Why)
			}
		}
		t.Logf("%s: %d groups, %d raw, %d checked by their schema", draft, len(groups), raw, checked)
	}
}

func buildOne(t *testing.T, schema json.RawMessage) *model.Package {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": "tool", "inputSchema": schema})
	require.NoError(t, err)
	return build.Build(build.Input{Package: "p", Server: "s", Tools: []runtime.Tool{{Name: "tool", InputSchema: schema, Raw: raw}}})
}
