package clitool

import (
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write the table of programs of test/reports/cli-corpus.md")

// report prints the table of programs, and with -update writes it into the page.
func report(t *testing.T, table string) {
	t.Helper()
	t.Logf("\n%s", table)
	if !*update {
		return
	}
	const page = "../../test/reports/cli-corpus.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	marks := regexp.MustCompile(`(?s)(<!-- corpus:programs -->\n).*?(<!-- corpus:end -->)`)
	if !marks.Match(text) {
		t.Fatalf("%s has no place for the table", page)
	}
	require.NoError(t, os.WriteFile(page, marks.ReplaceAll(text, []byte("${1}\n"+table+"\n\n${2}")), 0o644))
}
