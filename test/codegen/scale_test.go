//go:build !race

package main

import (
	"bytes"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/scaffold/gogen"
	"github.com/mcpctl/mcpctl/test/require"
)

var withScale = flag.Bool("scale", false, "measure with all sizes")

// TestScale wants the largest server within its bounds, the compiler's work to
// grow with the number of tools and no faster, and the order of the tools to
// make no difference.
func TestScale(t *testing.T) {
	t.Parallel()
	list := synthetic(scaleTools)
	if len(list) < 5_000_000 || !bytes.Equal(list, synthetic(scaleTools)) {
		t.Fatalf("got %d bytes, want 5 MB and the same ones each time", len(list))
	}
	tools, err := gogen.ParseTools(synthetic(60))
	require.NoError(t, err)
	first, err := gogen.Generate(gogen.Input{Server: "scale", Package: "scale", Tools: tools.Tools})
	require.NoError(t, err)
	second, err := gogen.Generate(shuffled(tools))
	require.NoError(t, err)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("another order of the tools gives other files (-first +second):\n%s", head(diff, 30))
	}
	product, err := buildProduct(t.Context(), "../..", t.TempDir())
	require.NoError(t, err)
	sizes := []int{scaleTools}
	if *withScale {
		sizes = []int{250, 500, scaleTools}
	}
	complain := t.Logf
	if enforced {
		complain = t.Errorf
	}
	for _, n := range sizes {
		m, err := measureScale(t.Context(), "../..", product, n, 1, *withScale)
		require.NoError(t, err)
		t.Logf("%+v", m)
		// The time on the clock is judged where nothing else runs, in make
		// codegen-report; here only a processor's that is wrong by any measure.
		if m.Memory > scaleMemory || m.GenerateCPU > 5*scaleTime {
			complain("%d tools: %s of a processor and %d MB, want at most %s and %d MB", n, m.GenerateCPU, m.Memory>>20, 5*scaleTime, scaleMemory>>20)
		}
	}
}
