package gogen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
	"github.com/mcpctl/mcpctl/test/require"
)

// gardener extends a server the way servers do without breaking anybody, in few
// words, so that names collide.
type gardener struct{ r *rand.Rand }

func (g *gardener) name() string {
	words := []string{"user", "id", "user_id", "user-id", "userId", "list", "item", "type", "params", "result", "label", "name", "new", "日本", "1", "value", "get_user", "getUser", "getUserId"}
	return words[g.r.IntN(len(words))]
}

// schema returns a new member's schema.
func (g *gardener) schema(depth int) map[string]any {
	switch g.r.IntN(7) {
	case 0:
		return map[string]any{"enum": []any{"a", "b", g.name()}}
	case 1:
		return map[string]any{"type": []any{"string", "null"}, "default": "x"}
	case 2:
		return map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "object", "properties": map[string]any{g.name(): map[string]any{"type": "number"}}}}}
	case 3, 4:
		if depth > 0 {
			return g.object(depth - 1)
		}
		return map[string]any{"type": "integer", "minimum": json.Number("1")}
	case 5:
		if depth > 0 {
			return map[string]any{"type": "array", "items": g.schema(depth - 1)}
		}
		return map[string]any{"type": "array"}
	}
	return map[string]any{"type": "string"}
}

func (g *gardener) object(depth int) map[string]any {
	s := map[string]any{"type": "object", "properties": map[string]any{}}
	if g.r.IntN(3) == 0 {
		s["additionalProperties"] = false
	}
	// One at least: an object without known members is a map, not a struct.
	for range 1 + g.r.IntN(3) {
		s["properties"].(map[string]any)[g.name()] = g.schema(depth)
	}
	return s
}

// grow adds optional members, values and alternatives anywhere in a schema.
func (g *gardener) grow(v any) {
	switch s := v.(type) {
	case map[string]any:
		if p, ok := s["properties"].(map[string]any); ok {
			for _, sub := range p {
				g.grow(sub)
			}
			if name := g.name(); p[name] == nil && g.r.IntN(2) == 0 {
				p[name] = g.schema(1)
			}
		}
		if values, ok := s["enum"].([]any); ok && len(values) > 1 && g.r.IntN(2) == 0 {
			if more := g.name(); !slices.Contains(values, any(more)) {
				s["enum"] = append([]any{more}, values...)
			}
		}
		if arms, ok := s["anyOf"].([]any); ok {
			for _, arm := range arms {
				g.grow(arm)
			}
			if g.r.IntN(3) == 0 && len(arms) == 2 {
				s["anyOf"] = append([]any{map[string]any{"type": "boolean"}}, arms...)
			}
		}
		if items, ok := s["items"]; ok {
			g.grow(items)
		}
	}
}

type server struct {
	tools     map[string]map[string]any
	prompts   map[string][]string
	resources map[string]string
}

func (g *gardener) add(s *server) {
	for _, t := range s.tools {
		g.grow(t["inputSchema"])
		if out := t["outputSchema"]; out != nil {
			g.grow(out)
		}
	}
	for range 2 {
		if name := g.name(); s.tools[name] == nil {
			t := map[string]any{"name": name, "inputSchema": g.object(2)}
			if g.r.IntN(2) == 0 {
				t["outputSchema"] = g.object(2)
			}
			s.tools[name] = t
		}
	}
	prompt := g.name()
	s.prompts[prompt] = append(s.prompts[prompt], g.name())
	for name, args := range s.prompts {
		slices.Sort(args)
		s.prompts[name] = slices.Compact(args)
	}
	s.resources["demo://"+g.name()+"/"+g.name()] = g.name()
}

// input returns the server's lists in their present order.
func (g *gardener) input(t *testing.T, s *server) gogen.Input {
	t.Helper()
	in := gogen.Input{Server: "garden", Package: "garden"}
	for _, tool := range s.tools {
		raw, err := json.Marshal(tool)
		require.NoError(t, err)
		var listed runtime.Tool
		require.NoError(t, json.Unmarshal(raw, &listed))
		listed.Raw = raw
		in.Tools = append(in.Tools, listed)
	}
	for name, args := range s.prompts {
		p := runtime.Prompt{Name: name}
		for _, a := range args {
			p.Arguments = append(p.Arguments, runtime.PromptArgument{Name: a})
		}
		in.Prompts = append(in.Prompts, p)
	}
	for uri, name := range s.resources {
		in.Resources = append(in.Resources, runtime.Resource{URI: uri, Name: name})
		in.Templates = append(in.Templates, runtime.ResourceTemplate{URITemplate: uri + "/{id}", Name: name})
	}
	g.r.Shuffle(len(in.Tools), func(i, j int) { in.Tools[i], in.Tools[j] = in.Tools[j], in.Tools[i] })
	return in
}

// TestGrowthBreaksNothing extends servers and generates them with the lock file
// of the state before: whatever code used is there and unchanged. The order of
// lists, random here, has no influence.
func TestGrowthBreaksNothing(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := &gardener{rand.New(rand.NewPCG(seed, 3))}
			s := &server{map[string]map[string]any{}, map[string][]string{}, map[string]string{}}
			var before *gogen.Lock
			var was drift.API
			for range 4 {
				g.add(s)
				in := g.input(t, s)
				in.Lock = before
				out, err := gogen.Generate(in)
				require.NoError(t, err)
				in = g.input(t, s)
				in.Lock = before
				again, err := gogen.Generate(in)
				require.NoError(t, err)
				var sources [][]byte
				for i, f := range out.Files {
					if !bytes.Equal(f.Data, again.Files[i].Data) {
						t.Fatalf("%s is another in another order", f.Name)
					}
					if strings.HasSuffix(f.Name, ".go") {
						sources = append(sources, f.Data)
					}
				}
				is, err := drift.APIOf(sources)
				require.NoError(t, err)
				for _, b := range drift.Breaks(was, is) {
					t.Error(b)
				}
				now, err := out.Lock()
				require.NoError(t, err)
				if before != nil {
					changes, err := gogen.Changes(before, now, false)
					require.NoError(t, err)
					for _, c := range changes {
						if c.Class != gogen.Compatible {
							t.Errorf("%s: %s", c.Class, c.String())
						}
					}
				}
				if t.Failed() {
					return
				}
				before, was = now, is
			}
		})
	}
}

// TestNothingOfTheMachine: the output holds no path, host, user or date.
func TestNothingOfTheMachine(t *testing.T) {
	g := &gardener{rand.New(rand.NewPCG(1, 1))}
	s := &server{map[string]map[string]any{}, map[string][]string{}, map[string]string{}}
	for range 3 {
		g.add(s)
	}
	in := g.input(t, s)
	in.ImportPath = "example.com/garden"
	out, err := gogen.Generate(in)
	require.NoError(t, err)
	dir, err := filepath.Abs(".")
	require.NoError(t, err)
	host, _ := os.Hostname()
	home, _ := os.UserHomeDir()
	words := []string{dir, filepath.Dir(filepath.Dir(dir)), host, home, os.TempDir(), "202"}
	if user := os.Getenv("USER"); len(user) > 4 {
		words = append(words, user)
	}
	for _, f := range out.Files {
		for _, word := range words {
			// A digest may have any digits.
			if len(word) > 2 && strings.Contains(stripDigests(string(f.Data)), word) {
				t.Errorf("%s holds %s", f.Name, word)
			}
		}
	}
}

func stripDigests(s string) string {
	var b strings.Builder
	for {
		head, rest, ok := strings.Cut(s, "sha256:")
		b.WriteString(head)
		if !ok {
			return b.String()
		}
		s = rest[min(64, len(rest)):]
	}
}
