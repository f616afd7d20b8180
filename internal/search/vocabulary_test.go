package search

import (
	"strings"
	"testing"
)

// TestVocabularyTexts: the texts that are built in are read, and each group of the one that
// is written by hand stands below the source that it comes from.
func TestVocabularyTexts(t *testing.T) {
	if n := len(Default().groups); n < 3000 {
		t.Errorf("%d groups", n)
	}
	from, seen := "", map[string]int{}
	number := 0
	for line := range strings.Lines(vocabularyText) {
		number++
		line = strings.TrimSpace(line)
		switch source, ok := strings.CutPrefix(line, "# from: "); {
		case ok:
			from = source
		case line == "" || strings.HasPrefix(line, "#"):
		case from == "":
			t.Errorf("line %d: %s: without a source", number, line)
		case seen[from+line] > 0:
			t.Errorf("line %d: %s: as in line %d", number, line, seen[from+line])
		default:
			seen[from+line] = number
		}
	}
}

func TestVocabularyForms(t *testing.T) {
	v, err := (&Vocabulary{}).With("pull_request merge_request # as others say\nrequest ask\n\npull fetch\n")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"pull requests":  "pull request 1, merg request 0.5",
		"requests":       "request 1, ask 0.5",
		"fetch requests": "fetch 1, pull 0.5",
		"nothing":        "noth 1",
	} {
		var got []string
		for _, f := range v.forms(stems(Split(text))) {
			got = append(got, strings.Join(f.term, " ")+strings.TrimRight(map[bool]string{true: " 1", false: " 0.5"}[f.count == 1], ""))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	more, err := v.With("nothing nil")
	if err != nil || len(more.forms([]string{"noth"})) != 2 || len(v.forms([]string{"noth"})) != 1 || len(more.forms([]string{"pull", "request"})) != 2 {
		t.Errorf("a vocabulary with more: %v", err)
	}
	if _, err := v.With("a b\nalone"); err == nil || err.Error() != "vocabulary, line 2: one word is no group" {
		t.Errorf("got %v", err)
	}
}

// TestStem has the examples of Porter's article, and what SQLite's tokenizer makes of more.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "ties": "ti", "cats": "cat", "feed": "feed", "agreed": "agre",
		"plastered": "plaster", "motoring": "motor", "sing": "sing", "conflated": "conflat", "troubled": "troubl",
		"sized": "size", "hopping": "hop", "falling": "fall", "hissing": "hiss", "failing": "fail", "filing": "file",
		"happy": "happi", "sky": "sky", "relational": "relat", "conditional": "condit", "valenci": "valenc",
		"digitizer": "digit", "operator": "oper", "decisiveness": "decis", "triplicate": "triplic", "formative": "form",
		"electrical": "electr", "hopefulness": "hope", "goodness": "good", "revival": "reviv", "adjustable": "adjust",
		"replacement": "replac", "adoption": "adopt", "communism": "commun", "effective": "effect", "probate": "probat",
		"rate": "rate", "cease": "ceas", "controlling": "control", "roll": "roll", "connections": "connect",
		"k8s": "k8s", "datei": "datei", "löschen": "löschen", "is": "is", "s": "s", "yes": "ye", "eed": "eed", "ion": "ion", "ing": "ing",
	} {
		if got := stem(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}

func BenchmarkVocabulary(b *testing.B) {
	for b.Loop() {
		v := &Vocabulary{of: map[string][]int{}}
		_ = v.add(vocabularyText, ofVocabulary)
		_ = v.add(wordnetText, ofWordNet)
	}
}
