package names_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

// grower makes sketches of few words, so that many collide.
type grower struct{ r *rand.Rand }

func (g *grower) pick(of ...string) string { return of[g.r.IntN(len(of))] }

// text returns a word or two in some style.
func (g *grower) text() string {
	a := g.pick("get", "user", "id", "new", "label", "tools", "params", "result", "input", "日本", "1", "", "extra", "arm", "unknown", "prompt", "default", "read")
	switch g.r.IntN(6) {
	case 0:
		return a
	case 1:
		return a + g.pick("ID", "User", "Arm", "Params")
	}
	return a + g.pick("_", "-", ".", " ", "/", "$") + g.pick("user", "id", "arm", "unknown", "params", "label", "2")
}

// grow adds things without changing others.
func (g *grower) grow(s sketch, n int) sketch {
	out := sketch{prompts: slices.Clone(s.prompts), resources: slices.Clone(s.resources), templates: slices.Clone(s.templates)}
	for _, t := range s.tools {
		if g.r.IntN(2) == 0 {
			t.in = g.members(t.in, 2, 2)
		}
		if g.r.IntN(3) == 0 {
			t.out = g.members(t.out, 2, 2)
		}
		out.tools = append(out.tools, t)
	}
	for range n {
		if name := g.text(); !slices.ContainsFunc(out.tools, func(t tool) bool { return t.name == name }) {
			out.tools = append(out.tools, tool{name: name, in: g.members(nil, 4, 2), out: g.members(nil, 2, 1)})
		}
		if name := g.text(); !slices.Contains(out.prompts, name) && g.r.IntN(3) == 0 {
			out.prompts = append(out.prompts, name)
		}
		uri := "demo://" + g.text() + "/" + g.text()
		if x := [2]string{uri, g.text()}; !slices.ContainsFunc(out.resources, func(y [2]string) bool { return y[0] == uri }) && g.r.IntN(3) == 0 {
			out.resources = append(out.resources, x)
		}
		if x := [2]string{uri + "/{id}", g.text()}; !slices.ContainsFunc(out.templates, func(y [2]string) bool { return y[0] == uri+"/{id}" }) && g.r.IntN(3) == 0 {
			out.templates = append(out.templates, x)
		}
	}
	return out
}

func (g *grower) members(have []member, n, depth int) []member {
	out := slices.Clone(have)
	for i := range out {
		if out[i].values != nil && g.r.IntN(2) == 0 {
			out[i].values = g.texts(out[i].values, 3)
		}
		if out[i].members != nil && depth > 0 {
			out[i].members = g.members(out[i].members, 2, depth-1)
		}
		if out[i].arms != nil && g.r.IntN(2) == 0 {
			out[i].arms = g.texts(out[i].arms, 2)
		}
	}
	for _, name := range g.texts(nil, n) {
		if slices.ContainsFunc(out, func(m member) bool { return m.name == name }) {
			continue
		}
		m := member{name: name, def: g.pick("", "1", `"x"`)}
		switch g.r.IntN(5) {
		case 0:
			m.values = g.texts(nil, 4)
		case 1:
			m.arms = g.texts(nil, 3)
		case 2, 3:
			if depth > 0 {
				m.members = g.members(nil, 3, depth-1)
			}
		}
		out = append(out, m)
	}
	return out
}

func (g *grower) texts(have []string, n int) []string {
	out := slices.Clone(have)
	for range n {
		if s := g.text(); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// shuffle changes every order.
func (g *grower) shuffle(s sketch) sketch {
	s.tools = mixed(g.r, s.tools)
	for i := range s.tools {
		s.tools[i].in, s.tools[i].out = g.shuffleMembers(s.tools[i].in), g.shuffleMembers(s.tools[i].out)
	}
	s.prompts, s.resources, s.templates = mixed(g.r, s.prompts), mixed(g.r, s.resources), mixed(g.r, s.templates)
	return s
}

func (g *grower) shuffleMembers(in []member) []member {
	out := mixed(g.r, in)
	for i := range out {
		out[i].values, out[i].arms, out[i].members = mixed(g.r, out[i].values), mixed(g.r, out[i].arms), g.shuffleMembers(out[i].members)
	}
	return out
}

func mixed[T any](r *rand.Rand, in []T) []T {
	out := slices.Clone(in)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

const rounds = 50

func seeds(t *testing.T, f func(t *testing.T, g *grower)) {
	for seed := range uint64(rounds) {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { f(t, &grower{rand.New(rand.NewPCG(seed, 7))}) }) {
			return
		}
	}
}

// TestOrderHasNoInfluence: the same names, collisions and lock file for every
// order of tools, members, values and arms.
func TestOrderHasNoInfluence(t *testing.T) {
	seeds(t, func(t *testing.T, g *grower) {
		s := g.grow(sketch{}, 4)
		first, r1 := resolve(t, s, names.Options{})
		second, r2 := resolve(t, g.shuffle(s), names.Options{})
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(r1, r2); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestLockedNamesStay: whatever is added, in any number of steps, names stay.
func TestLockedNamesStay(t *testing.T) {
	seeds(t, func(t *testing.T, g *grower) {
		s := g.grow(sketch{}, 3)
		ids, r := resolve(t, s, names.Options{})
		for range 3 {
			s = g.shuffle(g.grow(s, 2))
			now, next := resolve(t, s, names.Options{Locked: r.Names})
			for what, name := range ids {
				if now[what] != name {
					t.Fatalf("%s was %s and is now %s", what, name, now[what])
				}
			}
			ids, r = now, next
		}
	})
}

// TestNamesComeBack: a thing that is removed and returns has its old name, which
// nothing else had in between.
func TestNamesComeBack(t *testing.T) {
	seeds(t, func(t *testing.T, g *grower) {
		all := g.grow(sketch{}, 4)
		ids, r := resolve(t, all, names.Options{})
		part := all
		part.tools = mixed(g.r, all.tools)[:len(all.tools)/2]
		for i := range part.tools {
			part.tools[i].in = part.tools[i].in[:len(part.tools[i].in)/2]
		}
		part.prompts = all.prompts[:len(all.prompts)/2]
		part.resources, part.templates = nil, nil
		_, r = resolve(t, part, names.Options{Locked: r.Names})
		other := g.grow(part, 3)
		between, r := resolve(t, other, names.Options{Locked: r.Names})
		had := map[string]string{}
		for what, name := range ids {
			had[scopeOf(what)+" "+name] = what
		}
		for what, name := range between {
			if was, ok := had[scopeOf(what)+" "+name]; ok && was != what && ids[what] == "" {
				t.Errorf("%s got the name %s of %s", what, name, was)
			}
		}
		now, _ := resolve(t, all, names.Options{Locked: r.Names})
		for what, name := range ids {
			if now[what] != name {
				t.Errorf("%s was %s and came back as %s", what, name, now[what])
			}
		}
	})
}
