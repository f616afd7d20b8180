package config_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestToolFilterConnection: a connection is made again for each change of the filter, also from
// a list that allows nothing to no list.
func TestToolFilterConnection(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, tools := range []string{``, `,"tools":{"allow":[]}`, `,"tools":{"allow":["a"]}`, `,"tools":{"deny":["a"]}`, `,"tools":{"allow":[],"deny":["a"]}`} {
		f, err := config.Parse("", []byte(`{"mcpServers":{"x":{"command":"x"`+tools+`}}}`))
		require.NoError(t, err)
		e, _ := f.Entry("x")
		if other, ok := seen[e.Connection()]; ok {
			t.Errorf("%q and %q have one connection", tools, other)
		}
		seen[e.Connection()] = tools
	}
}
