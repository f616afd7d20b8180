package trial_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/codegen/trial"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestRandom wants random schemas to be sound, to use every keyword, and the
// values made for them to be of both sorts.
func TestRandom(t *testing.T) {
	valid, invalid, sound, used := 0, 0, 0, map[string]bool{}
	const n = 300
	for seed := range uint64(n) {
		src := trial.Seeded(seed)
		raw := trial.Schema(src, false)
		s, err := schema.Parse(raw)
		require.NoError(t, err)
		if s.Sound() != nil {
			continue
		}
		sound++
		var v any
		require.NoError(t, json.Unmarshal(raw, &v))
		keywords(v, used)
		for _, i := range trial.Instances(src, raw, 10) {
			if s.Validate(i) == nil {
				valid++
			} else {
				invalid++
			}
		}
	}
	t.Logf("%d of %d schemas are sound, %d values valid, %d invalid", sound, n, valid, invalid)
	if sound < n*9/10 || valid < 800 || invalid < 800 {
		t.Error("too one-sided")
	}
	for k := range strings.FieldsSeq(`type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format
		properties required additionalProperties patternProperties propertyNames minProperties maxProperties items prefixItems additionalItems minItems
		maxItems uniqueItems contains allOf anyOf oneOf not if then else dependentRequired dependentSchemas dependencies unevaluatedProperties $ref $defs
		nullable default description discriminator contentEncoding`) {
		if !used[k] {
			t.Errorf("no schema has %s", k)
		}
	}
}

func keywords(v any, used map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, sub := range v {
			used[k] = true
			keywords(sub, used)
		}
	case []any:
		for _, sub := range v {
			keywords(sub, used)
		}
	}
}

// TestRandomRepeats wants a seed to give the same schema and values always.
func TestRandomRepeats(t *testing.T) {
	all := func() (out []string) {
		for seed := range uint64(20) {
			src := trial.Seeded(seed)
			raw := trial.Schema(src, true)
			out = append(out, string(raw))
			for _, i := range trial.Instances(src, raw, 5) {
				out = append(out, string(i))
			}
		}
		return out
	}
	if !slices.Equal(all(), all()) {
		t.Error("the same seeds gave something else")
	}
	if a, b := trial.Schema(trial.Bytes([]byte("abc")), true), trial.Schema(trial.Bytes(nil), true); string(a) == string(b) {
		t.Error("bytes do not steer")
	}
}
