package policies

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s is not current (-update writes it; -want +got):\n%s", path, diff)
	}
}

// TestImport: testdata/import.txt has what becomes of access lists of another gateway.
func TestImport(t *testing.T) {
	const servers = `"mcpServers": {"gh": {}, "grafana": {}, "sentry": {}}`
	var got strings.Builder
	for _, text := range []string{
		// The form with roles.
		`{"acl": {"default": "deny", "roles": {"admin": [{"server": "*", "access": "*"}]}, "subjects": {"alice": {"roles": ["admin"]}}}}`,
		`{"serverAuth": {"providers": ["forwarded"], "acl": {"default": "deny",
			"roles": {"dev": [{"server": ["gh", "grafana"], "access": "read"}, {"server": "gh", "access": "write", "tools": ["gh_pr", "gh_issue"]}], "readonly": [{"server": "*", "access": "read"}]},
			"subjects": {"bob": {"roles": ["dev"]}, "charlie": {"roles": ["readonly"], "extra": [{"server": "sentry", "access": "read", "resources": ["issue://*"]}]}}}}}`,
		`{"default": "allow", "roles": {"guest": [{"server": "gh", "access": "*", "tools": ["delete_*"], "deny": true}]}}`,
		`{` + servers + `, "acl": {"default": "deny", "roles": {"a": [{"server": "g*", "access": "*", "tools": ["get_*"]}]}}}`,
		`{"serverAuth": {"providers": ["bearer"], "bearer": {"tokens": {"t1": {"subject": "ci", "roles": ["bots"]}, "t2": "alice"}}, "acl": {"default": "deny", "roles": {"bots": [{"server": "gh", "access": "*"}]}}}}`,
		`{"acl": {"roles": {"a": [{"server": "gh", "access": "read", "tools": ["x*"]}, {"server": "gh", "access": "write", "tools": ["x*"]}]}}} // comment`,
		`{"acl": {"default": "deny", "roles": {}, "subjects": {"anonymous": {"extra": [{"server": "gh", "access": "*"}]}}}}`,
		// What it guesses from names.
		`{"acl": {"roles": {"a": [{"server": "gh", "access": "write"}]}}}`,
		`{"acl": {"roles": {"a": [{"server": "gh", "access": "read", "deny": true}]}}}`,
		`{"acl": {"roles": {"a": [{"server": "gh", "access": "write", "deny": true}]}}}`,
		`{"acl": {"strictClassification": true, "roles": {"a": [{"server": "gh", "access": "*"}]}}}`,
		`{"acl": {"roles": {"a": [{"server": "gh", "access": "all"}]}}}`,
		`{"acl": {"roles": {"a": [{"server": "g*", "access": "*"}]}}}`,
		`{"acl": {"roles": {"a b": []}}}`,
		`{"acl": {"roles": {}, "subjects": {"x": {"roles": ["none"]}}}}`,
		// The form with rules, of which the first counts.
		`{` + servers + `, "acl": {"default": "deny", "rules": [{"subjects": ["alice"], "tools": ["*"], "policy": "allow"}, {"roles": ["viewer"], "tools": ["sentry__*"], "policy": "allow"}]}}`,
		`{` + servers + `, "acl": {"default": "allow", "rules": [{"tools": ["gh__delete_*"], "policy": "deny"}, {"tools": ["gh__*"], "policy": "allow"}]}}`,
		`{` + servers + `, "acl": {"default": "allow", "rules": [{"roles": ["viewer"], "tools": ["sentry__get_*"], "policy": "allow"}, {"tools": ["*"], "policy": "deny"}]}}`,
		`{` + servers + `, "acl": {"default": "deny", "rules": [{"subjects": ["alice"], "tools": ["gh__*"], "policy": "allow"}, {"subjects": ["bob"], "tools": ["gh__delete"], "policy": "deny"}]}}`,
		// Their order matters.
		`{` + servers + `, "acl": {"default": "deny", "rules": [{"roles": ["admin"], "tools": ["*"], "policy": "allow"}, {"tools": ["*__delete_*"], "policy": "deny"}]}}`,
		`{"acl": {"rules": [{"subjects": ["alice"], "tools": ["gh__get_*"], "policy": "allow"}, {"subjects": ["*"], "tools": ["*_repo"], "policy": "deny"}]}}`,
		`{"acl": {"rules": [{"subjects": ["alice"], "roles": ["admin"], "tools": ["gh__x"], "policy": "allow"}]}}`,
		`{"acl": {"rules": [{"tools": ["x"], "policy": "allow"}]}}`,
		`{"acl": {"rules": [{"tools": ["gh__x"], "policy": "maybe"}]}}`,
		`{"acl": {"rules": [{"tools": ["*"], "policy": "allow"}]}}`,
		`{"acl": {"rules": [], "roles": {}}}`,
		`{"acl": {"default": "maybe"}}`,
		`{"acl": {}, "serverAuth": {"acl": {}}}`,
		`{"mcpServers": {}}`,
		`[1]`,
		`{`,
	} {
		path := filepath.Join(t.TempDir(), "theirs.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		var out, errs bytes.Buffer
		p := &Command{UI: ui.New(nil, &out, &errs)}
		err := p.Import(path)
		fmt.Fprintf(&got, "%s\n%s%s", strings.ReplaceAll(text, "\t", ""), out.String(), errs.String())
		if err != nil {
			fmt.Fprintf(&got, "error: %s\nhint: %s\n", strings.TrimPrefix(err.Error(), path+": "), ui.HintOf(err))
		}
		got.WriteByte('\n')
	}
	golden(t, "import.txt", got.String())
}

// TestOverlap: two patterns meet if a text matches both.
func TestOverlap(t *testing.T) {
	texts := []string{""}
	for range 4 {
		for _, text := range texts {
			texts = append(texts, text+"a", text+"b")
		}
	}
	patterns := []string{"", "a", "b", "*", "a*", "*a", "*b", "a*b", "b*a", "ab", "*a*", "**", "a**b", "*ab", "ba*", "*aa*", "aab*"}
	match := func(p, text string) bool { return overlap(p, text) }
	for _, p := range patterns {
		for _, q := range patterns {
			want := false
			for _, text := range texts {
				want = want || match(p, text) && match(q, text)
			}
			if overlap(p, q) != want {
				t.Errorf("%q and %q: got %v", p, q, !want)
			}
		}
	}
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{{"a*c", "abc", true}, {"a*c", "ab", false}, {"*", "", true}, {"ab", "ab", true}, {"ab", "abc", false}, {"*x*", "axb", true}, {"*x*", "ab", false}} {
		if match(tt.pattern, tt.text) != tt.want {
			t.Errorf("%q, %q: got %v", tt.pattern, tt.text, !tt.want)
		}
	}
}
