package trial_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/codegen/trial"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestPeer wants the verdicts of another validator on random schemas and
// values, in every dialect.
func TestPeer(t *testing.T) {
	dialects := []string{
		"http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema", "http://json-schema.org/draft-07/schema",
		"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
	}
	verdicts := map[bool]int{}
	for seed := range uint64(120) {
		src := trial.Seeded(seed)
		raw := trial.Schema(src, false)
		raw = bytes.ReplaceAll(raw, []byte(`"nullable"`), []byte(`"x-nullable"`)) // which JSON Schema does not have
		values := trial.Instances(src, raw, 5)
		if raw[0] != '{' {
			continue
		}
		for _, dialect := range dialects {
			declared := json.RawMessage(`{"$schema":"` + dialect + `",` + string(raw[1:]))
			s, err := schema.Parse(declared)
			require.NoError(t, err)
			peer, err := compilePeer(declared)
			if err != nil || s.Sound() != nil {
				continue // what each of them refuses is not the same
			}
			for _, value := range values {
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
				require.NoError(t, err)
				want, got := peer.Validate(v), s.Validate(value)
				var invalid *schema.ValidationError
				if (want == nil) != (got == nil) || got != nil && !errors.As(got, &invalid) {
					t.Errorf("schema %s\nvalue %s\ngot %v, the other says %v", declared, value, got, want)
				}
				verdicts[want == nil]++
			}
		}
	}
	if verdicts[true] < 500 || verdicts[false] < 500 {
		t.Errorf("%v values fit or not: too one-sided", verdicts)
	}
}

func compilePeer(raw json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	for name := range strings.FieldsSeq("json-pointer relative-json-pointer uuid duration period ipv4 ipv6 hostname email date time date-time " +
		"uri iri uri-reference iri-reference uri-template semver regex") {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///schema.json")
}
