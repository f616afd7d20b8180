package clihelp

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of test/reports/cli-corpus.md")

// report prints a table, and with -update writes it into the page between its marks.
func report(t *testing.T, name, table string) {
	t.Helper()
	t.Logf("\n%s", table)
	if !*update {
		return
	}
	const page = "../../test/reports/cli-corpus.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(fmt.Sprintf(`(?s)(<!-- corpus:%s -->\n).*?(<!-- corpus:end -->)`, name))
	if !marks.Match(text) {
		t.Fatalf("%s has no place for %s", page, name)
	}
	text = marks.ReplaceAll(text, []byte("${1}\n"+table+"\n\n${2}"))
	if err := os.WriteFile(page, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
