package policy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go"
)

// corpusCase is a case of Cedar's own corpus.
type corpusCase struct {
	Policies, Entities string
	Requests           []struct {
		Principal, Action, Resource cedar.EntityUID
		Context                     cedar.Record
		Decision                    string
		Reason, Errors              []cedar.PolicyID
	}
}

// TestCorpus: partial evaluation as it is used here, in two steps, decides the corpus that
// comes with cedar-go as it says. Every fourth case is enough.
func TestCorpus(t *testing.T) {
	t.Parallel()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cedar-policy/cedar-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := corpus(t, filepath.Join(strings.TrimSpace(string(dir)), "corpus-tests.tar.gz"))
	var cases, requests int
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".entities.json") {
			continue
		}
		if cases++; cases%4 != 0 {
			continue
		}
		var c corpusCase
		if err := json.Unmarshal(files[name], &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var entities cedar.EntityMap
		if err := json.Unmarshal(files[c.Entities], &entities); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		set, err := cedar.NewPolicySetFromBytes("", files[c.Policies])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, r := range c.Requests {
			requests++
			request := cedar.Request{Principal: r.Principal, Action: r.Action, Resource: r.Resource, Context: r.Context}
			permits, forbids, failed := twoSteps(set, entities, request)
			want := "allow"
			if permits == 0 || forbids > 0 {
				want = "deny"
			}
			if want != r.Decision || failed != len(r.Errors) || max(forbids, permits*(1-min(forbids, 1))) != len(r.Reason) {
				t.Errorf("%s, request %d: %d permits, %d forbids, %d fail; want %s by %v with %v\n%s", name, i, permits, forbids, failed, r.Decision, r.Reason, r.Errors, files[c.Policies])
			}
		}
	}
	if requests < 5000 {
		t.Errorf("there are only %d requests", requests)
	}
	t.Logf("%d requests", requests)
}

// twoSteps counts the policies that hold and those that fail, as a view finds them: first
// for the principal, then for action and resource, and the rest for a request.
func twoSteps(set *cedar.PolicySet, entities cedar.EntityMap, request cedar.Request) (permits, forbids, failed int) {
	for _, p := range set.All() {
		at := env{Entities: entities, Principal: request.Principal, Action: unknownAction(), Resource: unknownResource(), Context: unknownContext()}
		rest := safely(at, joined(syntaxOf(p)))
		if rest.never {
			continue
		}
		at.Action, at.Resource = request.Action, request.Resource
		if rest = safely(at, rest.left); rest.never {
			continue
		}
		holds, fails := rest.always, rest.failed != ""
		if rest.conditional() {
			left := cedar.NewPolicySet()
			left.Add("left", compiled(rest.left))
			_, said := cedar.Authorize(left, entities, request)
			holds, fails = len(said.Reasons) > 0, len(said.Errors) > 0
		}
		switch {
		case fails:
			failed++
		case holds && p.Effect() == cedar.Permit:
			permits++
		case holds:
			forbids++
		}
	}
	return permits, forbids, failed
}

// corpus returns the files of an archive.
func corpus(t *testing.T, path string) map[string][]byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]byte)
	for r := tar.NewReader(unzipped); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[head.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}
