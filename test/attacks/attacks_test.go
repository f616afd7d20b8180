//go:build attacks && linux

package attacks_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// class is one kind of attack.
type class struct {
	name string
	// cases are few lines each: what is special about it is in its table.
	cases []attack
	// apart has each case on its own: they wait more than they work.
	apart bool
}

// attack is one case.
type attack struct {
	name string
	do   func(t *testing.T, s *stage)
	// slow leaves it out of the short form.
	slow bool
}

// with returns what adds cases that run in one world.
func (c *class) with(world func(s *stage) *wire.Daemon) func(name string, do func(t *testing.T, d *wire.Daemon)) {
	return func(name string, do func(t *testing.T, d *wire.Daemon)) {
		c.cases = append(c.cases, attack{name: name, do: func(t *testing.T, s *stage) { do(t, world(s)) }})
	}
}

// classes are all of them.
func classes() []class {
	return []class{
		hosts(), origins(), contents(), listening(), sessions(), parsing(), forwarding(), names(), uris(), ownership(),
		answers(), questions(), remotes(), redirects(), sealed(), mirrored(), bounds(), registries(), secrets(), logins(), files(),
		edits(), processes(), environments(), terminals(), links(),
		entrances(), places(), encrypted(), belongings(), leaks(), issued(), published(), silent(), certified(), forwarded(), apart(), pages(),
		policies(), flows(), pinned(), commanded(), spellings(), called(),
	}
}

// TestAttacks runs them all, or those that -run names: TestAttacks/CLASS/CASE.
func TestAttacks(t *testing.T) {
	for _, c := range classes() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			for _, a := range c.cases {
				t.Run(a.name, func(t *testing.T) {
					if a.slow && testing.Short() {
						t.Skip("takes long")
					}
					if c.apart {
						t.Parallel()
					}
					a.do(t, s)
				})
			}
		})
	}
}

// atLeast is how many cases there have to be.
const atLeast = 4500

// TestCount: the suite does not shrink, and a name stands for one case.
func TestCount(t *testing.T) {
	t.Parallel()
	total, seen := 0, map[string]bool{}
	count := map[string]int{}
	for _, c := range classes() {
		for _, a := range c.cases {
			name := c.name + "/" + a.name
			if a.name == "" || seen[name] {
				t.Errorf("%q is there twice, or has no name", name)
			}
			seen[name] = true
			count[c.name]++
			total++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%4d %s", count[name], name)
	}
	t.Logf("%4d in all", total)
	if total < atLeast {
		t.Errorf("%d cases, want at least %d", total, atLeast)
	}
}
