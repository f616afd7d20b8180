package reading

import (
	"path"
	"regexp"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// llms lists the pages for readers that take text only.
const llms = "docs/llms.txt"

var entryRE = regexp.MustCompile(`(?m)^- \[([^\]]+)\]\(([^)]+)\): (.{10,100})$`)

// TestLLMs holds the list to the pages: each is there once, with one line.
func TestLLMs(t *testing.T) {
	t.Parallel()
	list, err := readText(root, llms)
	require.NoError(t, err)
	names, err := pages(root)
	require.NoError(t, err)
	for _, c := range listFaults(list, names) {
		t.Errorf("%s: %s", llms, c)
	}
}

// listFaults returns what is wrong with a list of these pages.
func listFaults(list string, names []string) []string {
	var out []string
	listed := map[string]int{}
	all := rules()
	for _, m := range entryRE.FindAllStringSubmatch(list, -1) {
		listed[path.Join("docs", m[2])]++
		for _, f := range faults(all, mask(m[3])) {
			out = append(out, m[2]+": "+f)
		}
	}
	for _, name := range names {
		if listed[name] != 1 {
			out = append(out, name+" needs one line \"- [TITLE](FILE): what it is about\"")
		}
		delete(listed, name)
	}
	for name := range listed {
		out = append(out, name+" is not there")
	}
	return out
}

// TestLLMsCatch shows the check lists with one fault each.
func TestLLMsCatch(t *testing.T) {
	t.Parallel()
	const good = "- [A](../README.md): what the program does\n- [B](b.md): what the b page has\n"
	for list, want := range map[string]int{
		good: 0,
		"- [A](../README.md): what the program does\n":                                       1,
		good + "- [B](b.md): what the b page has\n":                                          1,
		good + "- [C](c.md): what the c page has\n":                                          1,
		"- [A](../README.md): what the program does\n- [B](b.md): b\n":                       1,
		"- [A](../README.md): what the program does\n- [B](b.md): whoever wants to read b\n": 1,
	} {
		if got := listFaults(list, []string{"README.md", "docs/b.md"}); len(got) != want {
			t.Errorf("%s: got %q, want %d", list, got, want)
		}
	}
}
