package rules_test

import (
	"reflect"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/access/rules"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestGuards(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]guards.Config{
		"{}": {}, "{guards: }": {}, "{guards: {secrets: off}}": {Secrets: guards.Off},
		"{guards: {secrets: redact, hidden: label, size: 1MiB, canaries: [blue-heron-42]}}": {Secrets: guards.Redact, Hidden: guards.Label, Size: 1 << 20, Canaries: []string{"blue-heron-42"}},
		"{guards: {size: 64 KiB}}": {Size: 64 << 10}, "{guards: {size: 1000}}": {Size: 1000},
	} {
		var node yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(text), &node))
		s, err := rules.Parse("config.yaml", node.Content[0])
		require.NoError(t, err)
		if !reflect.DeepEqual(s.Guards, want) {
			t.Errorf("%s: got %+v, want %+v", text, s.Guards, want)
		}
	}
}
