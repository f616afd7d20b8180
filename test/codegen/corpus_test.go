//go:build !race

package main

import (
	"flag"
	"os"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

var corpusDir = flag.String("corpus", "../../../shared/schema-corpus", "`directory` with the tools of real servers that are not committed")

// TestCorpus wants the packages of real servers to be what a reviewer lets
// pass: they compile, go vet, staticcheck and gofmt have nothing to say, every
// exported symbol is documented, and at most one field in a hundred is untyped.
func TestCorpus(t *testing.T) {
	t.Parallel()
	servers, err := referenceServers(t.Context(), "../..")
	if err != nil || len(servers) < 3 {
		t.Fatalf("got %d servers, %v", len(servers), err)
	}
	github, err := githubServer(*corpusDir)
	require.NoError(t, err)
	if github != nil {
		servers = append(servers, *github)
	} else {
		t.Log("without the tools of github-mcp-server, which are not beside the checkout")
	}
	check := staticcheckPath("../..")
	if check == "" {
		t.Log("without staticcheck, which is not installed: make staticcheck installs it")
	}
	all, err := checkCorpus(t.Context(), "../..", check, servers)
	require.NoError(t, err)
	complain := t.Logf
	if enforced {
		complain = t.Errorf
	}
	fields, untyped := 0, 0
	for _, c := range all {
		t.Logf("%s: %d tools, %d schemas, %d lines, %d exported, %d fields, %d untyped", c.Name, c.Tools, c.Schemas, c.Lines, c.Exported, c.Fields, len(c.Untyped))
		for _, problem := range []string{c.Compile, c.Vet, c.Staticcheck} {
			if problem != "" {
				complain("%s: %s", c.Name, head(problem, 30))
			}
		}
		if len(c.Unformatted)+len(c.Undocumented) > 0 {
			complain("%s: not formatted %q, not documented %q", c.Name, c.Unformatted, c.Undocumented)
		}
		fields, untyped = fields+c.Fields, untyped+len(c.Untyped)
		if len(c.Untyped) > 0 {
			t.Logf("%s: untyped %q", c.Name, c.Untyped)
		}
	}
	if fields < 100 || untyped*100 > fields {
		complain("%d of %d fields are untyped, want at most one in a hundred", untyped, fields)
	}
}

// TestCollected is TestCorpus with the servers that somebody has collected, where they are
// beside the checkout.
func TestCollected(t *testing.T) {
	if os.Getenv("MCPCTL_NIGHTLY") == "" {
		t.Skip("compiles 70 packages: make nightly")
	}
	servers, err := collectedServers(*corpusDir)
	require.NoError(t, err)
	if len(servers) == 0 {
		t.Skip("they are not beside the checkout")
	}
	all, err := checkCorpus(t.Context(), "../..", staticcheckPath("../.."), servers)
	require.NoError(t, err)
	total := together(all)
	t.Logf("%d servers, %d tools, %d schemas, %d of %d documented, %d fields, %d untyped %q", len(all), total.Tools, total.Schemas, total.Exported-len(total.Undocumented), total.Exported, total.Fields, len(total.Untyped), total.Untyped)
	for _, c := range all {
		for _, problem := range []string{c.Compile, c.Vet, c.Staticcheck} {
			if problem != "" {
				t.Errorf("%s: %s", c.What, head(problem, 30))
			}
		}
		if len(c.Unformatted)+len(c.Undocumented) > 0 {
			t.Errorf("%s: not formatted %q, not documented %q", c.What, c.Unformatted, c.Undocumented)
		}
	}
	if total.Schemas < 200 {
		t.Errorf("%d schemas, want 200", total.Schemas)
	}
}
