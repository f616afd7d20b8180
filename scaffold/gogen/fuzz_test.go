package gogen_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
	"github.com/mcpctl/mcpctl/test/codegen/trial"
	"github.com/mcpctl/mcpctl/test/require"
)

// FuzzGenerate: any schemas, names and texts are refused by an error of this
// package, or result in source that is formatted, compiles, and is the same the
// next time.
func FuzzGenerate(f *testing.F) {
	cases, err := trial.Load("testdata")
	if err != nil || len(cases) == 0 {
		f.Fatal(len(cases), err)
	}
	for _, c := range cases {
		for i, name := range c.Order {
			if i%3 > 0 {
				continue // seeds are tried by every go test, too
			}
			tool := c.Tools[name]
			f.Add(tool.Name, "Text.", []byte(tool.InputSchema), []byte(tool.OutputSchema))
		}
	}
	f.Add("evil\n//go:build ignore", "*/ package x\r\u2028//line a:1\x00", []byte(`{"type":"object","properties":{"\u202e":{"default":"*/"}}}`), []byte(`{"title":"\n//go:embed x"}`))
	f.Fuzz(func(t *testing.T, name, description string, in, out []byte) {
		tool := runtime.Tool{Name: name, Description: description, InputSchema: in, OutputSchema: out}
		if len(out) == 0 {
			tool.OutputSchema = nil
		}
		// Another with nearly the same name, for collisions.
		try(t, tool, runtime.Tool{Name: name + "_", InputSchema: in})
	})
}

// FuzzSchemas is FuzzGenerate with schemas that are meaningful more often than
// random bytes: the bytes control how they grow.
func FuzzSchemas(f *testing.F) {
	for seed := range uint64(12) {
		src := trial.Seeded(seed)
		steer := make([]byte, 400)
		for i := range steer {
			steer[i] = byte(src.IntN(256))
		}
		f.Add(steer)
	}
	f.Fuzz(func(t *testing.T, steer []byte) {
		src := trial.Bytes(steer)
		names := trial.Names()
		try(
			t,
			runtime.Tool{Name: names[src.IntN(len(names))], InputSchema: trial.Schema(src, true), OutputSchema: trial.Schema(src, true)},
			runtime.Tool{Name: "second", InputSchema: trial.Schema(src, true)},
		)
	})
}

func try(t *testing.T, tools ...runtime.Tool) {
	t.Helper()
	in := gogen.Input{Server: "s", Package: "p", Tools: tools}
	out, err := gogen.Generate(in)
	if _, refused := errors.AsType[*gogen.Error](err); refused {
		return
	}
	require.NoError(t, err)
	checkFiles(t, out)
	for i, j := 0, len(tools)-1; i < j; i, j = i+1, j-1 {
		tools[i], tools[j] = tools[j], tools[i]
	}
	again, err := gogen.Generate(in)
	require.NoError(t, err)
	if diff := cmp.Diff(out, again); diff != "" {
		t.Errorf("made again in another order, it differs:\n%s", diff)
	}
	if t.Failed() {
		list, _ := json.Marshal(tools) //nolint:errchkjson // for the reader
		t.Logf("%s", list)
	}
}
