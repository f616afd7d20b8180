package config_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// TestFreeAlias: whatever texts and suffixes come one after the other, each gets an alias
// that can be used and that no other has.
func TestFreeAlias(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	texts := []string{"", "-", "__", "gh", "a__b", "a_", "serve", "demo", "demo-server", "é", "名前", "a b", "n-2", "n-12", "-x-", "\x00", strings.Repeat("n", 60), strings.Repeat("n", 64), strings.Repeat("n", 200), strings.Repeat("a_", 40), strings.Repeat("-", 70) + "z", "n" + strings.Repeat(".", 63)}
	suffixes := []string{"", "cursor", "server", "vscode-insiders", strings.Repeat("s", 80), "__", "é"}
	for range 200 {
		taken := map[string]bool{}
		for range 100 {
			text := texts[r.IntN(len(texts))]
			if r.IntN(4) == 0 {
				b := make([]byte, r.IntN(90))
				for i := range b {
					b[i] = "ab._-_-09 \xff"[r.IntN(11)]
				}
				text = string(b)
			}
			suffix := suffixes[r.IntN(len(suffixes))]
			got := config.FreeAlias(text, suffix, taken)
			if err := config.CheckAlias(got); err != nil || taken[got] {
				t.Fatalf("FreeAlias(%q, %q) = %q: %v, taken %v", text, suffix, got, err, taken[got])
			}
			taken[got] = true
		}
	}
}

// TestFreeAliasForms: the text itself comes first, then the suffix, then numbers.
func TestFreeAliasForms(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 60)
	for _, tt := range []struct{ text, suffix, taken, want string }{
		{"gh", "cursor", "", "gh"},
		{"gh", "cursor", "gh", "gh-cursor"},
		{"gh", "cursor", "gh gh-cursor", "gh-cursor-2"},
		{"gh", "", "gh", "gh-2"},
		{"serve", "cursor", "", "serve-cursor"},
		{"demo", "server", "demo", "demo-server-2"},
		{"!", "cursor", "", "server"},
		{long, "cursor", long, long[:57] + "-cursor"},
		{long, "cursor", long + " " + long[:57] + "-cursor", long[:55] + "-cursor-2"},
	} {
		taken := map[string]bool{}
		for name := range strings.FieldsSeq(tt.taken) {
			taken[name] = true
		}
		if got := config.FreeAlias(tt.text, tt.suffix, taken); got != tt.want {
			t.Error(fmt.Sprintf("FreeAlias(%q, %q) without %q", tt.text, tt.suffix, tt.taken), "is", got, "want", tt.want)
		}
	}
}
