package schema_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

func TestLazy(t *testing.T) {
	e := schema.Lazy(`{"type":"object","properties":{"b":{"type":"integer"},"a":{"items":{"enum":["left","right"]}}},"required":["c"]}`)
	tests := []struct{ value, pointer, reason string }{
		{`{"c":0,"b":1}`, "", ""},
		{`{"b":"x","c":0}`, "/b", "want integer, got string"},
		{`{"b":"x","c":0,"a":["left","rihgt"]}`, "/a/1", `"rihgt" is not one of "left", "right"; did you mean right?`},
		{`{}`, "/c", "required, but missing"},
		{`7`, "", "want object, got number"},
	}
	var wg sync.WaitGroup
	for _, tt := range tests {
		wg.Go(func() {
			err := e.Check([]byte(tt.value))
			if tt.reason == "" {
				if err != nil {
					t.Errorf("%s: got %v, want no error", tt.value, err)
				}
				return
			}
			var f *runtime.FieldError
			if !errors.As(err, &f) || f.Pointer != tt.pointer || f.Reason != tt.reason {
				t.Errorf("%s: got %v, want %q at %q", tt.value, err, tt.reason, tt.pointer)
			}
		})
	}
	wg.Wait()
}

// TestLazyBroken wants a schema that is no schema to be told from a value that
// does not fit.
func TestLazyBroken(t *testing.T) {
	for _, text := range []string{`{"type":"strnig"}`, `{`, `7`, `{"$ref":"https://example.com/x"}`} {
		var bad *schema.Error
		if err := schema.Lazy(text).Check([]byte(`1`)); !errors.As(err, &bad) {
			t.Errorf("%s: got %v, want an Error", text, err)
		}
	}
}
