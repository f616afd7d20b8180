package eras_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

const docFile = "../reports/eras.md"

// cell is one place of the matrix, outcome what its check came to.
type cell struct{ line, endpoint, back string }

type outcome struct {
	reason string // why there is nothing to do; a check may still have run
	failed bool
}

type outcomes map[cell]outcome

const docHead = `# Protocol eras: what works between which

Each section below is one check. It is run for every pair of a client's transport (a front, the columns) and a server
(a backend, the rows). A cell names the test that passed: ` + "`go test ./test/eras -run 'TestEras/pairs/<cell>'`" + `. A number in
brackets refers to the reasons at the end: the protocol has nothing to do there. If a test is named too, it checks that
the refusal is clear.

` + "`go test ./test/eras -update`" + ` writes this page; a run without it fails if the page is out of date.

Legacy is the handshake era, 2024-11-05 to 2025-11-25. Modern is 2026-07-28.

`

// writeDoc makes the page of outcomes.
func writeDoc(got outcomes) []byte {
	var b bytes.Buffer
	b.WriteString(docHead)
	b.WriteString("| front | is |\n|---|---|\n")
	for _, f := range endpoints() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.name, f.title)
	}
	b.WriteString("\n| backend | is |\n|---|---|\n")
	for _, k := range backends() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.name, k.title)
	}
	var reasons []string
	failed, passed, without := 0, 0, 0
	var body bytes.Buffer
	for _, l := range lines() {
		fmt.Fprintf(&body, "\n## %s\n\n|", l.title)
		for _, f := range endpoints() {
			fmt.Fprintf(&body, " | %s", f.name)
		}
		body.WriteString(" |\n|---" + strings.Repeat("|---", len(endpoints())) + "|\n")
		for _, k := range backends() {
			fmt.Fprintf(&body, "| %s", k.name)
			for _, f := range endpoints() {
				o := got[cell{l.name, f.name, k.name}]
				name := "`" + f.name + "/" + k.name + "/" + l.name + "`"
				note := ""
				if o.reason != "" {
					i := slices.Index(reasons, o.reason)
					if i < 0 {
						i = len(reasons)
						reasons = append(reasons, o.reason)
					}
					note = fmt.Sprintf("[%d]", i+1)
				}
				switch {
				case o.failed:
					failed++
					body.WriteString(" | **fails** " + name)
				case note == "":
					passed++
					body.WriteString(" | " + name)
				case l.refused != nil:
					without++
					body.WriteString(" | " + note + " " + name)
				default:
					without++
					body.WriteString(" | " + note)
				}
			}
			body.WriteString(" |\n")
		}
	}
	fmt.Fprintf(&b, "\n%d cells: %d pass, %d have a reason, %d fail.\n", failed+passed+without, passed, without, failed)
	b.Write(body.Bytes())
	b.WriteString("\n## Reasons\n\n")
	for i, r := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, r)
	}
	return b.Bytes()
}

// readDoc returns what the page says now: which cells fail.
func readDoc(t *testing.T) outcomes {
	t.Helper()
	out := outcomes{}
	page, err := os.ReadFile(docFile)
	if err != nil {
		return out
	}
	name := regexp.MustCompile("(\\*\\*fails\\*\\* )?`([a-z0-9-]+)/([a-z0-9-]+)/([a-z0-9-]+)`")
	for _, m := range name.FindAllStringSubmatch(string(page), -1) {
		out[cell{m[4], m[2], m[3]}] = outcome{failed: m[1] != ""}
	}
	return out
}

// compareDoc checks that the page says what has happened, or rewrites it.
func compareDoc(t *testing.T, got, doc outcomes) {
	t.Helper()
	want := writeDoc(got)
	if *update {
		require.NoError(t, os.WriteFile(docFile, want, 0o644))
		return
	}
	page, err := os.ReadFile(docFile)
	require.NoError(t, err)
	if bytes.Equal(page, want) {
		return
	}
	better := 0
	for c, o := range got {
		if doc[c].failed && !o.failed {
			better++
		}
	}
	if better > 0 { // what is mended must not break whoever has mended it
		t.Logf("%d cells of test/reports/eras.md no longer fail: run go test ./test/eras -update", better)
		return
	}
	t.Error("test/reports/eras.md is not what happens: run go test ./test/eras -update")
}
