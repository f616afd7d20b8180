package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/require"
)

func TestCount(t *testing.T) {
	fail := func(check, why string) []failure { return []failure{{check, why}} }
	for name, c := range map[string]struct {
		checks []check
		want   scenario
	}{
		"passes":                      {[]check{{ID: "a", Status: "SUCCESS"}, {ID: "a", Status: "SUCCESS"}}, scenario{Passed: 2}},
		"fails":                       {[]check{{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "FAILURE", Message: "x\n y"}}, scenario{Passed: 1, Failures: fail("b", "x y")}},
		"says why in its description": {[]check{{ID: "b", Status: "FAILURE", Description: "must"}}, scenario{Failures: fail("b", "must")}},
		"a warning fails":             {[]check{{ID: "b", Status: "WARNING", Message: "hm"}}, scenario{Failures: fail("b", "hm")}},
		"information is no check":     {[]check{{ID: "a", Status: "SUCCESS"}, {ID: "i", Status: "INFO"}}, scenario{Passed: 1}},
		"the schema's fit says nothing": {
			[]check{{ID: "wire-schema-valid", Status: "SUCCESS"}}, scenario{Failures: fail("none", "no check was made")},
		},
		"unless it does not": {
			[]check{{ID: "wire-schema-valid", Status: "FAILURE", Message: "bad"}}, scenario{Failures: fail("wire-schema-valid", "bad")},
		},
		"the suite's own fault": {
			[]check{{ID: "a", Status: "SUCCESS"}, {ID: "wire-schema-harness-error", Status: "FAILURE"}}, scenario{Passed: 1},
		},
		"no result":       {nil, scenario{Failures: fail("none", "no check was made")}},
		"all was skipped": {[]check{{ID: "a", Status: "SKIPPED"}}, scenario{Skipped: true}},
	} {
		c.want.Name = name
		if d := cmp.Diff(c.want, count(name, c.checks)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
	}
}

// TestResults reads directories named as the suite names them.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"server-ping-2026-11-20T10-22-29-861Z":        `[{"id":"a","status":"SUCCESS"}]`,
		"server-initialize-2026-11-20T10-22-29-861Z":  `[{"id":"b","status":"SUCCESS"}]`, // its own name begins like that
		"auth/metadata-var1-2026-11-20T10-22-29-861Z": `[{"id":"c","status":"SUCCESS"}]`,
		"torn-2026-11-20T10-22-29-861Z":               `[{`,
	} {
		d := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(d, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(d, "checks.json"), []byte(text), 0o600))
	}
	got, err := results(dir, []string{"ping", "server-initialize", "auth/metadata-var1", "torn", "missing"})
	require.NoError(t, err)
	if len(got["torn"]) == 1 {
		got["torn"][0].Message = ""
	}
	want := map[string][]check{
		"ping":               {{ID: "a", Status: "SUCCESS"}},
		"server-initialize":  {{ID: "b", Status: "SUCCESS"}},
		"auth/metadata-var1": {{ID: "c", Status: "SUCCESS"}},
		"torn":               {{ID: "checks.json", Status: "FAILURE"}},
		"missing":            nil,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := results(filepath.Join(dir, "none"), nil); err != nil {
		t.Errorf("nothing has run: got %v", err)
	}
}

// evaluate runs parts of one row through a report.
func evaluate(t *testing.T, expected string, least int, scenarios ...scenario) (ok bool, said string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "expected.txt")
	require.NoError(t, os.WriteFile(path, []byte(expected), 0o600))
	x, err := readExpectations(path)
	require.NoError(t, err)
	var out strings.Builder
	r := &report{out: &out, expected: x}
	w := row{name: "http"}
	r.part(w, part{version: "2025-11-25", least: least}, scenarios)
	r.row(w, 0)
	return r.finish(), out.String()
}

func TestReport(t *testing.T) {
	good := scenario{Name: "ping", Passed: 2}
	bad := scenario{Name: "tools", Passed: 1, Failures: []failure{{"list", "empty"}}}
	for name, c := range map[string]struct {
		expected  string
		least     int
		scenarios []scenario
		ok        bool
		want      string
	}{
		"all passed":              {"", 2, []scenario{good}, true, "passed 2/2 checks, 1/1 scenarios"},
		"too few":                 {"", 3, []scenario{good}, false, "2 checks were made, at least 3"},
		"a failure":               {"", 2, []scenario{good, bad}, false, "tools:list: empty"},
		"an expected one":         {"http 2025-11-25 tools:list # why", 2, []scenario{good, bad}, true, "passed 3/4 checks, 1/2 scenarios, 1 expected failures"},
		"an expected scenario":    {"http 2025-11-25 tools # why", 2, []scenario{bad}, true, "passed 1/2"},
		"another row's":           {"two 2025-11-25 tools # why", 2, []scenario{bad}, false, "FAIL  http 2025-11-25 tools:list"},
		"another check's":         {"http 2025-11-25 tools:call # why", 2, []scenario{bad}, false, "http 2025-11-25 tools:call: line 1 of the expected failures is stale"},
		"stale":                   {"\nhttp 2025-11-25 ping # why", 2, []scenario{good}, false, "line 2 of the expected failures is stale"},
		"another revision's line": {"http 2026-07-28 ping # why", 2, []scenario{good}, true, "passed 2/2"},
	} {
		ok, said := evaluate(t, c.expected, c.least, c.scenarios...)
		if ok != c.ok || !strings.Contains(said, c.want) {
			t.Errorf("%s: got %v, want %v with %q:\n%s", name, ok, c.ok, c.want, said)
		}
	}
}

func TestExpectationsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"http 2025-11-25":                             "expected.txt:1: want ROW",
		"# fine\nhttp 2025-11-25 ping":                "expected.txt:2: want ROW",
		"a b c # why\n\na b c:d # why\na b c # again": "expected.txt:4: a b c is there twice",
	} {
		path := filepath.Join(t.TempDir(), "expected.txt")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := readExpectations(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	x := expectations{{Row: "http", Version: "2025-11-25"}, {Row: "http", Version: "2099-01-01"}, {Row: "no", Version: "2025-11-25"}}
	if lost := x.unknown(table()); len(lost) != 2 {
		t.Errorf("got %v, want the two of no row", lost)
	}
}

// TestExpectedFile: the file in the checkout is read.
func TestExpectedFile(t *testing.T) {
	x, err := readExpectations("expected.txt")
	require.NoError(t, err)
	if lost := x.unknown(table()); len(lost) > 0 {
		t.Errorf("line %d is about no row: %s", lost[0].line, lost[0])
	}
}

// TestServeBothEras: another program than the SDK's is not taken for it;
// TestSSEWire builds that one.
func TestServeBothEras(t *testing.T) {
	if _, err := serveBothEras("package main"); err == nil {
		t.Error("another program is taken for the server")
	}
}
