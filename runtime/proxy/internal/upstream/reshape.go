package upstream

import (
	"fmt"
	"slices"
)

// Changes are the servers that another configuration changes, by name; see
// proxy.Changes.
type Changes struct{ Added, Removed, Replaced, Adjusted []string }

func (c Changes) none() bool {
	return len(c.Added)+len(c.Removed)+len(c.Replaced)+len(c.Adjusted) == 0
}

// Distinct refuses servers that cannot be told apart.
func Distinct(servers []Settings) error {
	seen := map[string]bool{}
	for _, s := range servers {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("proxy: server %q: the name is empty or repeated", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// Reconfiguration is what becomes of the backends.
type Reconfiguration struct {
	Changes
	Roster []*Backend
	Made   []*Backend            // those that were not there before
	Left   map[*Backend]*Backend // those that go, with what comes in their place, nil for nothing
	Adjust map[*Backend]Settings // those that stay, with settings that are others
	Same   bool                  // nothing changes
}

// Compare tells what has to change.
func (s *Set) Compare(servers []Settings) *Reconfiguration {
	r := &Reconfiguration{Left: map[*Backend]*Backend{}, Adjust: map[*Backend]Settings{}}
	before := map[string]*Backend{}
	for _, b := range s.All() {
		before[b.Name] = b
	}
	for _, set := range servers {
		b := before[set.Name]
		delete(before, set.Name)
		switch {
		case b == nil:
			r.Added = append(r.Added, set.Name)
		case b.withDefaults(set) == *b.Config():
			r.Roster = append(r.Roster, b)
			continue
		case (&set).Way() == b.Config().Way():
			r.Adjusted = append(r.Adjusted, set.Name)
			r.Roster, r.Adjust[b] = append(r.Roster, b), set
			continue
		default:
			r.Replaced = append(r.Replaced, set.Name)
		}
		made := NewBackend(s, set)
		r.Roster, r.Made = append(r.Roster, made), append(r.Made, made)
		if b != nil {
			r.Left[b] = made
		}
	}
	for _, b := range s.All() {
		if before[b.Name] != nil {
			r.Removed, r.Left[b] = append(r.Removed, b.Name), nil
		}
	}
	r.Same = r.none() && slices.Equal(r.Roster, s.All())
	return r
}
