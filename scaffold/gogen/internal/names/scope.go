package names

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"unicode"
	"unicode/utf8"
)

// item is one thing that needs a name in a scope.
type item struct {
	kind, key, member string // as in Retired; together unique
	// wanted returns the wanted names, best first, all made from its own place
	// only. Digests of that place come after them.
	wanted func() []string
	// rank decides which of several items gets a name: the lowest, if only one has
	// it.
	rank int
	// companions returns the names that a name needs besides itself; nil is none.
	companions func(name string) []string
	set        func(name string)

	options []string
	level   int
	other   string // what has the first of them
	pinned  bool   // to the name in the lock file
	retired bool   // removed; its name is kept
	name    string
}

func (i *item) id() string { return i.kind + " " + i.key + " " + i.member }

// what describes the item.
func (i *item) what() string {
	switch {
	case i == byPackage:
		return i.kind
	case i.retired:
		was := item{kind: i.kind, key: i.key, member: i.member}
		return was.what() + ", which is gone"
	}
	if i.member == "" && i.kind != "field" && i.kind != "value" {
		return fmt.Sprintf("%s %s", i.kind, i.key)
	}
	return fmt.Sprintf("%s %q of %s", i.kind, i.member, i.key)
}

// claims returns all names that a name occupies.
func (i *item) claims(name string) []string {
	if i.companions == nil {
		return []string{name}
	}
	return append([]string{name}, i.companions(name)...)
}

// option returns the wanted name at the item's level; past the last of them,
// digests of growing length.
func (i *item) option() string {
	if i.options == nil {
		for _, name := range i.wanted() {
			if !slices.Contains(i.options, name) {
				i.options = append(i.options, name)
			}
		}
	}
	if i.level < len(i.options) {
		return i.options[i.level]
	}
	sizes := []int{4, 8, 16, 32}
	n := min(i.level-len(i.options), len(sizes)-1)
	return i.options[0] + "X" + digest(i.id(), sizes[n])
}

// maxLevel returns the level of the last digest.
func (i *item) maxLevel() int { return len(i.options) + 3 }

// scope is a set of names that have to differ.
type scope struct {
	taken  map[string]*item
	report func(Collision)
}

func newScope(report func(Collision), reserved ...[]string) *scope {
	s := &scope{taken: map[string]*item{}, report: report}
	for _, names := range reserved {
		for _, name := range names {
			s.taken[name] = byPackage
		}
	}
	return s
}

// pin sets the names that the lock file has for items. A locked name that is no
// identifier, or is reserved, is an error; of two items with the same one (files
// can be edited) the second gets a new name.
func (s *scope) pin(items []*item, locked *locked) error {
	if locked.none {
		return nil
	}
	items = slices.SortedFunc(slices.Values(items), func(a, b *item) int {
		return cmp.Or(byRank(a, b), cmp.Compare(a.kind, b.kind), cmp.Compare(a.key, b.key), cmp.Compare(a.member, b.member))
	})
	for _, i := range items {
		name, ok := locked.name(i.kind, i.key, i.member)
		if !ok {
			continue
		}
		if err := checkName(name); err != nil {
			return fmt.Errorf("the lock file names %s %q: %w", i.what(), name, err)
		}
		free := true
		for n, claim := range i.claims(name) {
			other, ok := s.taken[claim]
			if !ok {
				continue
			}
			if n == 0 && other == byPackage {
				return fmt.Errorf("the lock file names %s %s, which is taken by %s", i.what(), name, other.what())
			}
			free = false
			i.noteConflict(other.what())
		}
		if free {
			i.pinned = true
			s.give(i, name)
		}
	}
	return nil
}

// retire reserves the names of removed things.
func (s *scope) retire(locked *locked, kinds ...string) {
	for _, r := range locked.retired {
		if slices.Contains(kinds, r.Kind) {
			s.keep(r)
		}
	}
}

func (s *scope) retireFields(locked *locked, key string) {
	for _, r := range locked.fields[key] {
		s.keep(r)
	}
}

func (s *scope) keep(r Retired) {
	if _, ok := s.taken[r.Name]; !ok {
		s.taken[r.Name] = &item{kind: r.Kind, key: r.Key, member: r.Member, retired: true}
	}
}

// byPackage has the reserved names.
var byPackage = &item{kind: "the generated package itself"} //nolint:gochecknoglobals // never changes

func checkName(name string) error {
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case !token.IsIdentifier(name):
		return fmt.Errorf("this is not a Go identifier")
	case !unicode.IsUpper(first):
		return fmt.Errorf("an exported name begins with a capital letter")
	}
	return nil
}

func (s *scope) give(i *item, name string) {
	i.name = name
	i.set(name)
	for _, claim := range i.claims(name) {
		s.taken[claim] = i
	}
}

// solve names all items that have no name. All items that collide over a name
// turn to their next choice at once, so that their order has no influence.
func (s *scope) solve(items []*item) error {
	items = slices.DeleteFunc(slices.Clone(items), func(i *item) bool { return i.pinned })
	for {
		wanting := make(map[string][]*item, len(items))
		for _, i := range items {
			for _, claim := range i.claims(i.option()) {
				wanting[claim] = append(wanting[claim], i)
			}
		}
		raise := map[*item]bool{}
		for name, group := range wanting {
			if other, ok := s.taken[name]; ok {
				for _, i := range group {
					raise[i] = true
					i.noteConflict(other.what())
				}
				continue
			}
			if len(group) < 2 {
				continue
			}
			least := slices.MinFunc(group, byRank)
			keeps := countRank(group, least.rank) == 1
			for _, i := range group {
				if i != least || !keeps {
					raise[i] = true
					i.noteConflict(otherThan(group, i).what())
				}
			}
		}
		if len(raise) == 0 {
			break
		}
		for i := range raise {
			if i.level++; i.level > i.maxLevel() {
				return fmt.Errorf("no name is left for %s", i.what())
			}
		}
	}
	for _, i := range items {
		s.give(i, i.option())
		if i.other != "" {
			s.report(Collision{Kind: i.kind, What: i.what(), Wanted: i.options[0], Name: i.name, Other: i.other})
		}
	}
	return nil
}

// noteConflict stores why the first name is not available; of several reasons,
// the one that sorts first.
func (i *item) noteConflict(other string) {
	if i.level == 0 && (i.other == "" || other < i.other) {
		i.other = other
	}
}

func byRank(a, b *item) int { return cmp.Compare(a.rank, b.rank) }

func countRank(group []*item, rank int) int {
	n := 0
	for _, i := range group {
		if i.rank == rank {
			n++
		}
	}
	return n
}

// otherThan returns what else wants an item's name: the first by its
// description.
func otherThan(group []*item, i *item) *item {
	var other *item
	for _, o := range group {
		if o != i && (other == nil || o.what() < other.what()) {
			other = o
		}
	}
	return other
}
