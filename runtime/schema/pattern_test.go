package schema

import (
	"bufio"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

var (
	random = flag.Int("patterns", 3000, "how many random patterns are compared with Node")
	seed   = flag.Uint64("patterns-seed", 1, "of the random patterns")
)

// TestForms: what ECMA-262 and Go read in two ways.
func TestForms(t *testing.T) {
	for _, x := range []struct {
		pattern, text string
		want          bool
	}{
		{`^[[:alpha:]]$`, "x", false},
		{`^[[:alpha:]]$`, ":]", true},
		{`^\A$`, "A", true},
		{`^\z$`, "z", true},
		{`^\a$`, "a", true},
		{`^\Qa$`, "Qa", true},
		{`^\Aabc\Z`, "abc", true}, // as Python means it
		{`^.$`, "\u2028", false},
		{`^.$`, "\r", false},
		{`^[^]$`, "\n", true},
		{`^[]$`, "a", false},
		{`^\s$`, "\u00a0", true},
		{`^\s$`, "\v", true},
		{`^\S$`, "\ufeff", false},
		{`^[\s_]$`, "\u3000", true},
		{`^[^\S]$`, "\u00a0", true},
		{`^\u{1F600}$`, "😀", true},
		{`^\ud83d\ude00$`, "😀", true},
		{`^[\u4e00-\u9fff]+$`, "漢字", true},
		{`^\cJ$`, "\n", true},
		{`^[\b]$`, "\b", true},
		{`^\0$`, "\x00", true},
		{`^\p{Lu}\p{Script=Greek}$`, "Aβ", true},
		{`^\p{Lu}$`, "a", false},
		{`^(?!x)\w+$`, "y", true},
		{`^(?!x)\w+$`, "x", false},
		{`^(?<a>b)\k<a>$`, "bb", true},
		{`^a$`, "a\n", false},
		{`^(?=a)a$`, "a\n", false},
		{`(?i)^ab$`, "AB", true},
		{`^a{2,}$`, "a", false},
		{`(`, "x", true},
	} {
		if got := compilePattern(x.pattern).MatchString(x.text); got != x.want {
			t.Errorf("%s on %q: %v", x.pattern, x.text, got)
		}
		if got := compilePattern(x.pattern).String(); got != x.pattern {
			t.Errorf("%s is called %s", x.pattern, got)
		}
	}
}

// oracle reads lines of [pattern, text] and answers 1, 0, or ? where the pattern is none: with
// the flag u, and without it where that refuses the pattern.
const oracle = `
const lines = require("readline").createInterface({input: process.stdin});
const onlyWithU = /\\[pP]|\\u\{|[^\x00-\uffff]/u; // which means something else without it
const compiled = (p, s) => { try { return new RegExp(p, "u") } catch { try { return onlyWithU.test(p+s) ? null : new RegExp(p) } catch { return null } } };
lines.on("line", line => { const [p, s] = JSON.parse(line); const r = compiled(p, s); console.log(r ? (r.test(s) ? 1 : 0) : "?") });
`

// TestNode: no text is refused that Node takes, and what is matched in linear time is as Node
// matches it.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node")
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	parts := strings.Fields(`a b A z ] } { , - ^ $ . \. \/ \- \d \D \w \W \s \S \b \B \t \n \v \f \r \0 \cJ \x41 \u0041 \u{41} \u{1F600} \ud83d\ude00 \p{L} \p{Lu} \P{L} \p{Script=Greek} \p{Greek} \pL ` +
		`\A \z \Z \a \Q \E \C \h \G \1 [a-z] [^a-z] [[:alpha:]] [] [^] [\s\d] [\w.-] [a\]b] [^\S] [[a] [\b] [&&a] [^^] []a] * + ? {2} {1,2} {,2} *? ( (?: (?= (?! (?<= (?<n> (?i: (?P<n> (?i) ) | | :] x{41} Ä 漢 😀`)
	texts := strings.Split("|a|A|b|z|aa|ab|]|:|:]|x|xxx|[|p|pL|L|Q|Qa|\n|\r|a\n|\u2028|\u00a0|\v|\ufeff|_|5|-|^|.|/|Ä|漢|😀|β|{2}|a{,2}|&|\b|\x00|Z|h|G|E|C|1", "|")
	var in strings.Builder
	type question struct{ pattern, text string }
	var asked []question
	for range *random {
		var p strings.Builder
		for range 1 + r.IntN(6) {
			p.WriteString(parts[r.IntN(len(parts))])
		}
		if strings.Contains(p.String(), "(?<n>") {
			p.WriteString(")")
		}
		anchored := p.String()
		if r.IntN(2) == 0 {
			anchored = "^" + anchored + "$"
		}
		for range 8 {
			q := question{anchored, texts[r.IntN(len(texts))] + texts[r.IntN(len(texts))]}
			line, err := json.Marshal([]string{q.pattern, q.text})
			require.NoError(t, err)
			in.Write(append(line, '\n'))
			asked = append(asked, q)
		}
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", oracle)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	require.NoError(t, err)
	linearly, compared := 0, 0
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for _, q := range asked {
		if !lines.Scan() {
			t.Fatal("Node has not answered all")
		}
		if lines.Text() == "?" {
			continue
		}
		m := compilePattern(q.pattern)
		got, want := m.MatchString(q.text), lines.Text() == "1"
		compared++
		if _, ok := m.(linear); ok {
			linearly++
			if got != want {
				t.Errorf("-patterns-seed %d: %s on %q: %v, Node says %v", *seed, q.pattern, q.text, got, want)
			}
		} else if want && !got {
			t.Errorf("-patterns-seed %d: %s on %q is refused (%T)", *seed, q.pattern, q.text, m)
		}
	}
	if linearly < compared/4 {
		t.Errorf("%d of %d are matched in linear time", linearly, compared)
	}
	t.Logf("%d compared, %d of them exactly", compared, linearly)
}
