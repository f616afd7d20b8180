// Package reading holds what a person reads to plain English: README.md, the pages
// of docs, help texts and error texts. constructions_test.go is the list of what is
// banned, with reasons.
package reading

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// mostWords is the bound of a sentence. Manuals of Go, Git and Kubernetes rarely
// need more than 25.
const mostWords = 30

// exceptionsFile names what is not rewritten yet, a file a line. It may only shrink.
const exceptionsFile = "testdata/exceptions.txt"

var update = flag.Bool("update", false, "take files that have become readable out of "+exceptionsFile)

var root = filepath.Join("..", "..")

type rule struct {
	construction

	re *regexp.Regexp
}

func rules() []rule {
	var out []rule
	for _, c := range constructions() {
		out = append(out, rule{c, regexp.MustCompile(c.pattern)})
	}
	return out
}

// faults returns what is wrong with a sentence.
func faults(all []rule, body string) []string {
	var out []string
	for _, r := range all {
		if found := r.re.FindString(body); found != "" {
			out = append(out, fmt.Sprintf("%q: %s", strings.TrimSpace(found), r.why))
		}
	}
	if n := words(body); n > mostWords {
		out = append(out, fmt.Sprintf("%d words, at most %d: make two sentences of it", n, mostWords))
	}
	return out
}

// TestReading reads every page and every text of the program.
func TestReading(t *testing.T) {
	t.Parallel()
	all, complaints := rules(), map[string][]string{}
	known := map[string][]string{} // cells of tables repeat
	read := func(file string, texts []text) {
		complaints[file] = nil
		for _, tx := range texts {
			for _, s := range sentences(tx) {
				if _, ok := known[s.body]; !ok {
					known[s.body] = faults(all, s.body)
				}
				for _, f := range known[s.body] {
					complaints[file] = append(complaints[file], fmt.Sprintf("%s:%d: %s\n\t%s", file, s.line, f, s.body))
				}
			}
		}
	}
	names, err := pages(root)
	require.NoError(t, err)
	for _, name := range names {
		page, err := readText(root, name)
		require.NoError(t, err)
		read(name, markdown(page))
	}
	files, err := goFiles(root)
	require.NoError(t, err)
	spoken := 0
	for _, name := range files {
		texts, err := sourceTexts(filepath.Join(root, filepath.FromSlash(name)), nil)
		require.NoError(t, err)
		spoken += len(texts)
		read(name, texts)
	}
	if len(names) < 20 || spoken < 500 {
		t.Errorf("read %d pages and %d texts of the program: too few", len(names), spoken)
	}
	judge(t, complaints)
}

// judge reports the complaints of files that are no exceptions, and exceptions that
// are none any more.
func judge(t *testing.T, complaints map[string][]string) {
	t.Helper()
	list, err := readText(".", exceptionsFile)
	require.NoError(t, err)
	var left []string
	for file := range strings.FieldsSeq(list) {
		if len(complaints[file]) > 0 {
			left = append(left, file)
		} else if !*update {
			t.Errorf("%s is readable or gone: take it out of test/reading/%s (go test ./test/reading -update)", file, exceptionsFile)
		}
		delete(complaints, file)
	}
	for _, list := range complaints {
		for _, c := range list {
			t.Error(c)
		}
	}
	if *update {
		slices.Sort(left)
		require.NoError(t, os.WriteFile(exceptionsFile, []byte(strings.Join(left, "\n")+"\n"), 0o600))
	}
}

// TestConstructions holds each row of the list to its own samples.
func TestConstructions(t *testing.T) {
	t.Parallel()
	for _, r := range rules() {
		if r.why == "" || !r.re.MatchString(r.catches) {
			t.Errorf("%s has no reason, or does not catch %q", r.pattern, r.catches)
		}
		if r.spares != "" && r.re.MatchString(r.spares) {
			t.Errorf("%s catches %q", r.pattern, r.spares)
		}
	}
}

// TestMarkdown takes a page apart.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	page := strings.Join([]string{
		"# Nor does it", "", "One `nor does x`. Two", "lines, with [a link](nor-does.md). Three:", "",
		"```sh", "nor does it", "```", "- An item. Its", "  second line!", "- Another, e.g. this.",
		"", "| `a|b` | c; d |", "|---|---|",
	}, "\n")
	var got []string
	for _, tx := range markdown(page) {
		for _, s := range sentences(tx) {
			got = append(got, fmt.Sprintf("%d %s", s.line, s.body))
		}
	}
	want := []string{
		"3 One ‹code›.", "3 Two lines, with a link.", "4 Three:",
		"9 An item.", "9 Its second line!", "11 Another, e.g. this.", "13 ‹code›", "13 c;", "13 d",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestSource finds what a file says to a person.
func TestSource(t *testing.T) {
	t.Parallel()
	const src = `package p
var c = &cobra.Command{Use: "a b", Short: "Does it", Long: "One. " + "Two.\n\n  an example\n\nThree ` + "`" + `+x+` + "`" + `."}
func (e E) Hint() string { return "run it " + e.name }
func f() error {
	set.StringVar(&a, "a-b c", "", "the usage text")
	log.Print("not read at all")
	return fmt.Errorf("open %s: %w", name, err)
}
`
	texts, err := sourceTexts("p.go", src)
	require.NoError(t, err)
	var got []string
	for _, tx := range texts {
		got = append(got, tx.body)
	}
	want := []string{"Does it", "One. Two.", "Three `+x+`.", "run it ‹code›", "a-b c", "the usage text", "open ‹code›: ‹code›"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestLength counts words.
func TestLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", mostWords)
	if got := faults(nil, long+"→ – ‹code›."); len(got) != 1 {
		t.Errorf("%d words and one of code: %q", mostWords, got)
	}
	if got := faults(nil, long+"→ –."); len(got) != 0 {
		t.Errorf("%d words: %q", mostWords, got)
	}
}
