// Package roundtrip_test runs the golden output of package gogen. It stands
// apart so that golden files which do not compile can still be rewritten.
package roundtrip_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/codegen/trial"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestInstances checks the generated types against instances.txt of each case. A
// valid value decodes, passes Validate, and is equal, to the last digit, when it
// is written again; an invalid one is refused at the wrong place; a lenient one,
// of a newer server, is kept.
func TestInstances(t *testing.T) {
	cases, err := trial.Load("../../testdata")
	require.NoError(t, err)
	types, tried := makers(), 0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, i := range c.Instances {
				tried++
				newValue, ok := types[[3]string{c.Name, i.Tool, string(i.Side)}]
				if !ok {
					t.Errorf("line %d: tool %s has no type", i.Line, i.Tool)
					continue
				}
				out, decoded, err := pass(newValue(), i.Value)
				refused, isField := errors.AsType[*runtime.FieldError](err)
				switch {
				case i.Verdict == trial.Invalid && err == nil:
					t.Errorf("line %d: accepted: %s", i.Line, i.Value)
				case i.Verdict == trial.Invalid && !isField:
					t.Errorf("line %d: got a %T: %v", i.Line, err, err)
				case i.Verdict == trial.Invalid && refused.Pointer != i.Pointer:
					t.Errorf("line %d: got %q at %q, want it at %q: %s", i.Line, refused.Reason, refused.Pointer, i.Pointer, i.Value)
				case i.Verdict == trial.Invalid:
				case i.Verdict == trial.Valid && err != nil:
					t.Errorf("line %d: refused: %v: %s", i.Line, err, i.Value)
				case i.Verdict == trial.Lenient && decoded && err == nil && trial.Equal(i.Value, out):
					t.Errorf("line %d: Validate finds nothing wrong: %s", i.Line, i.Value)
				case !decoded:
					t.Errorf("line %d: not decoded: %v: %s", i.Line, err, i.Value)
				case !trial.Equal(i.Value, out):
					t.Errorf("line %d: got %s, want %s", i.Line, out, i.Value)
				}
			}
		})
	}
	if tried < 550 {
		t.Errorf("only %d values were tried", tried)
	}
}

// pass decodes a value, encodes it and validates it.
func pass(v any, raw json.RawMessage) (out []byte, decoded bool, err error) {
	if err := json.Unmarshal(raw, v); err != nil {
		return nil, false, err
	}
	out, err = json.Marshal(v)
	if err != nil {
		return nil, true, err
	}
	if c, ok := v.(interface{ Validate() error }); ok {
		err = c.Validate()
	}
	return out, true, err
}

// TestBakeoff counts: ten schemas that real servers have, 31 valid values and
// 32 invalid ones. No generator for Go that was tried took more than 17.
func TestBakeoff(t *testing.T) {
	cases, err := trial.Load("../../testdata")
	require.NoError(t, err)
	types := makers()
	for _, c := range cases {
		if c.Name != "bakeoff" {
			continue
		}
		equal, refused := 0, 0
		for _, i := range c.Instances {
			out, _, err := pass(types[[3]string{c.Name, i.Tool, string(i.Side)}](), i.Value)
			switch {
			case i.Verdict == trial.Valid && err == nil && trial.Equal(i.Value, out):
				equal++
			case i.Verdict == trial.Invalid && err != nil:
				refused++
			}
		}
		if len(c.Tools) != 10 || equal != 31 || refused != 32 {
			t.Errorf("%d schemas: %d of 31 valid values kept, %d of 32 invalid ones refused", len(c.Tools), equal, refused)
		}
		return
	}
	t.Error("no such case")
}
