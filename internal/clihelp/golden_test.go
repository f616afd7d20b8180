package clihelp

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGolden reads a help text of each style and compares all that is found with what
// was written by hand beside it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/help/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d help texts, %v", len(files), err)
	}
	for _, file := range files {
		base := strings.TrimSuffix(file, ".txt")
		t.Run(filepath.Base(base), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want truth
			readTruth(t, base+".json", &want)
			compare(t, Parse(text, want.Path), want)
		})
	}
}

// compare fails where a command is not what the truth says, wholly.
func compare(t *testing.T, c Command, want truth) {
	t.Helper()
	got := c.asTruth()
	if got.Summary != want.Summary && want.Summary != "" {
		t.Errorf("summary %q, want %q", got.Summary, want.Summary)
	}
	for _, l := range []struct {
		what      string
		got, want []string
	}{
		{"aliases", got.Aliases, want.Aliases},
		{"subcommands", got.Subcommands, want.Subcommands},
		{"arguments", got.Args, want.Args},
	} {
		if !slices.Equal(l.got, l.want) {
			t.Errorf("%s %q, want %q", l.what, l.got, l.want)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got.Flags)) {
		if w, ok := want.Flags[key]; !ok {
			t.Errorf("invented flag %s: %s", key, got.Flags[key])
		} else if w != got.Flags[key] {
			t.Errorf("flag %s: %q, want %q", key, got.Flags[key], w)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want.Flags)) {
		if _, ok := got.Flags[key]; !ok {
			t.Errorf("no flag %s", key)
		}
	}
}
