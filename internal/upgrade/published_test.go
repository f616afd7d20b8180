package upgrade_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/internal/upgrade"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
	"github.com/mcpctl/mcpctl/schemas"
	"github.com/mcpctl/mcpctl/test/require"
)

// published returns the sample records, and where there is a collection of published
// documents, those and the ones that registries refuse.
func published(t *testing.T) []json.RawMessage {
	t.Helper()
	out, err := registrytest.Records()
	require.NoError(t, err)
	dir := os.Getenv("MCPCTL_REGISTRY_CORPUS") // see make registry-corpus
	for _, name := range []string{"servers.jsonl", "refused.jsonl"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return out
		}
		for line := range bytes.SplitSeq(bytes.TrimSpace(b), []byte("\n")) {
			out = append(out, line)
		}
	}
	return out
}

// next returns an artificial newer version of a server: a later version of each package,
// and a variable more.
func next(s registry.Server) registry.Server {
	const version = "999.0.0"
	s.Version = version
	s.Packages = slices.Clone(s.Packages)
	for i := range s.Packages {
		p := &s.Packages[i]
		name, was := upgrade.Coordinates(p)
		own := strings.TrimSuffix(p.Identifier, was) // the identifier names the version
		switch {
		case was == "" || was == "latest" || strings.Contains(was, "sha256"):
		case own != p.Identifier && own != name:
			p.Identifier = own + version
		}
		if p.Version != "" {
			p.Version = version
		}
		p.EnvironmentVariables = append(slices.Clip(p.EnvironmentVariables), registry.KeyValueInput{Name: "NEW_IN_999", Input: registry.Input{Required: true}})
	}
	return s
}

// edits are what a user does to an entry.
type edits struct {
	env     map[string]string
	arg     string
	members map[string]string
}

// in makes the edits in an entry.
func (ed edits) in(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var e map[string]any
	require.NoError(t, json.Unmarshal(raw, &e))
	if _, stdio := e["command"]; stdio {
		env, _ := e["env"].(map[string]any)
		if env == nil {
			env = map[string]any{}
		}
		for name, text := range ed.env {
			env[name] = text
		}
		if e["env"] = env; len(env) == 0 {
			delete(e, "env")
		}
		if ed.arg != "" {
			args, _ := e["args"].([]any)
			e["args"] = append(args, ed.arg)
		}
	}
	for name, text := range ed.members {
		e[name] = text
	}
	out, err := json.Marshal(e)
	require.NoError(t, err)
	return out
}

// TestPublished: whatever record an entry was made of and whatever its user has edited, the
// upgrade is what add writes for the newer record with the same edits. What results is a
// sound entry, in which nothing expands but placeholders that were announced.
func TestPublished(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	verdict := compile(t)
	counts := map[string]int{}
	for _, raw := range published(t) {
		rec, err := registry.ParseRecord(raw)
		if err != nil {
			counts["unreadable"]++
			continue
		}
		o := scaffold.Options{Registry: reg, Alias: "x"}
		old := rec.Server
		before, err := scaffold.New(old, o)
		if _, ok := errors.AsType[*scaffold.RefusedError](err); ok {
			counts["refused"]++
			continue
		}
		require.NoError(t, err)
		now := next(old)
		after, err := scaffold.New(now, o)
		require.NoError(t, err)
		ed := edits{env: map[string]string{}, members: map[string]string{}}
		for _, r := range before.Required {
			if r.Kind == scaffold.KindEnv && random.IntN(2) == 0 && !mentioned(before.Entry, r.Name) {
				ed.env[r.Name] = "filled in " + r.Name
			}
		}
		if random.IntN(2) == 0 {
			ed.env["OF_THE_USER"] = "a <b> & ${C}"
		}
		if random.IntN(2) == 0 {
			ed.arg = "--of-the-user"
		}
		if random.IntN(2) == 0 {
			ed.members["requestTimeout"] = "5s"
		}
		mine := entry(t, string(ed.in(t, before.Entry)))
		up, err := upgrade.New(&old, &now, mine, upgrade.Options{Registry: reg})
		if err != nil {
			t.Errorf("%s %s: %v", old.Name, old.Version, err)
			continue
		}
		counts["upgraded"]++
		if want := ed.in(t, after.Entry); !sameJSON(t, up.Entry, string(want)) || len(up.Conflicts) > 0 {
			t.Errorf("%s %s: conflicts %v\nbefore %s\nmine   %s\ngot    %s\nwant   %s", old.Name, old.Version, up.Conflicts, before.Entry, mine.Raw, up.Entry, want)
		}
		checkSound(t, verdict, old.Name, up, mine, before)
	}
	t.Log(counts)
}

// mentioned reports whether a placeholder stands elsewhere than in the env.
func mentioned(raw json.RawMessage, name string) bool {
	return strings.Count(string(raw), "${"+name+"}") > 1
}

func checkSound(t *testing.T, verdict *jsonschema.Schema, name string, up *upgrade.Upgrade, mine config.Entry, before *scaffold.Plan) {
	t.Helper()
	doc := []byte(`{"mcpServers":{"x":` + string(up.Entry) + `}}`)
	f, err := config.Parse("servers.json", doc)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(t, err)
	if err := verdict.Validate(value); err != nil || len(f.Faults()) > 0 {
		t.Errorf("%s: %v, %v\n%s", name, f.Faults(), err, up.Entry)
	}
	e, _ := f.Entry("x")
	allowed := []string{"C"}
	for _, list := range [][]scaffold.Requirement{before.Required, up.Plan.Required} {
		for _, r := range list {
			allowed = append(allowed, r.Name)
		}
	}
	for _, text := range append([]string{e.Command, e.URL, fmt.Sprint(e.Env), fmt.Sprint(e.Headers)}, e.Args...) {
		names, _ := config.Variables(text)
		for _, n := range names {
			if !slices.Contains(allowed, n) {
				t.Errorf("%s: ${%s} expands in %s, which was %s", name, n, up.Entry, mine.Raw)
			}
		}
	}
}

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.Servers()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("servers.schema.json", doc))
	s, err := c.Compile("servers.schema.json")
	require.NoError(t, err)
	return s
}
