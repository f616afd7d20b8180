package trial_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/codegen/trial"
	"github.com/mcpctl/mcpctl/test/require"
)

var (
	python        = flag.String("python", "", "a python3 that has jsonschema, for TestVerdicts")
	pythonSchemas = flag.Int("python-schemas", 300, "how many random schemas it judges")
)

// TestVerdicts holds the validator that judges the trials to another one, which
// shares no code with it: on the cases of testdata and on random schemas.
func TestVerdicts(t *testing.T) {
	if *python == "" {
		t.Skip("needs -python, see make codegen-random")
	}
	var ask []question
	cases, err := trial.Load("../../../scaffold/gogen/testdata")
	require.NoError(t, err)
	for _, c := range cases {
		for _, i := range c.Instances {
			ask = append(ask, question{c.Tools[i.Tool].Schema(i.Side), i.Value})
		}
	}
	for seed := range uint64(*pythonSchemas) {
		src := trial.Seeded(seed)
		raw := trial.Schema(src, seed%4 == 0)
		for _, v := range trial.Instances(src, raw, 12) {
			ask = append(ask, question{raw, v})
		}
	}
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range ask {
		require.NoError(t, enc.Encode(q))
	}
	cmd := exec.CommandContext(t.Context(), *python, "-W", "ignore", "verdicts.py")
	cmd.Stdin = &in
	out, err := cmd.Output()
	require.NoError(t, err)
	verdicts := strings.Fields(string(out))
	if len(verdicts) != len(ask) {
		t.Fatalf("got %d verdicts, want %d", len(verdicts), len(ask))
	}
	none := 0
	for i, q := range ask {
		s, err := schema.Parse(q.Schema)
		if err != nil || s.Sound() != nil || verdicts[i] == "null" {
			none++
			continue
		}
		if ours := s.Validate(q.Value) == nil; ours != (verdicts[i] == "true") {
			t.Errorf("ours %v, the other %s\n\tvalue  %s\n\tschema %s", ours, verdicts[i], q.Value, q.Schema)
		}
	}
	t.Logf("%d values, %d without a verdict", len(ask), none)
}

type question struct {
	Schema json.RawMessage `json:"schema"`
	Value  json.RawMessage `json:"value"`
}
