package proxy

import (
	"fmt"
	"slices"
)

// changes are the servers that another configuration changes, by name; see
// proxy.Changes.
type changes struct{ Added, Removed, Replaced, Adjusted []string }

func (c changes) none() bool {
	return len(c.Added)+len(c.Removed)+len(c.Replaced)+len(c.Adjusted) == 0
}

// distinct refuses servers that cannot be told apart.
func distinct(servers []settings) error {
	seen := map[string]bool{}
	for _, s := range servers {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("proxy: server %q: the name is empty or repeated", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// reshaping is what becomes of the backends.
type reshaping struct {
	changes
	roster []*Backend
	made   []*Backend            // those that were not there before
	left   map[*Backend]*Backend // those that go, with what comes in their place, nil for nothing
	adjust map[*Backend]settings // those that stay, with settings that are others
	same   bool                  // nothing changes
}

// compare tells what has to change.
func (s *Set) compare(servers []settings) *reshaping {
	r := &reshaping{left: map[*Backend]*Backend{}, adjust: map[*Backend]settings{}}
	before := map[string]*Backend{}
	for _, b := range s.all() {
		before[b.name] = b
	}
	for _, set := range servers {
		b := before[set.Name]
		delete(before, set.Name)
		switch {
		case b == nil:
			r.Added = append(r.Added, set.Name)
		case b.withDefaults(set) == *b.config():
			r.roster = append(r.roster, b)
			continue
		case (&set).way() == b.config().way():
			r.Adjusted = append(r.Adjusted, set.Name)
			r.roster, r.adjust[b] = append(r.roster, b), set
			continue
		default:
			r.Replaced = append(r.Replaced, set.Name)
		}
		made := newBackend(s, set)
		r.roster, r.made = append(r.roster, made), append(r.made, made)
		if b != nil {
			r.left[b] = made
		}
	}
	for _, b := range s.all() {
		if before[b.name] != nil {
			r.Removed, r.left[b] = append(r.Removed, b.name), nil
		}
	}
	r.same = r.none() && slices.Equal(r.roster, s.all())
	return r
}
