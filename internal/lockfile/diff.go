package lockfile

import (
	"slices"
	"strings"
)

// State is how something a server offers stands to the lock.
type State string

// The states of a change.
const (
	New     State = "new"
	Changed State = "changed"
	Gone    State = "gone"
)

// Change is one difference between the lock and what a server offers.
type Change struct {
	// What is a list's noun, or "name", "title" or "instructions" of the server.
	What  string
	Key   string // the entry's name or URI, "" for what the server says of itself
	State State
	// Was and Is are the entry's JSON, or the text that the server says of itself;
	// nil where there is none.
	Was, Is []byte

	list List // of an entry
}

// Entry reports whether it is about an entry of a list.
func (c *Change) Entry() bool { return c.Key != "" }

// Compare returns how an offer differs from what is locked, nil for nothing: first
// what the server says of itself, then list by list in the order of the offer, and
// what is gone in the order of its names. Of a server that is not locked everything
// is new.
func (s *Server) Compare(o *Offer) []Change {
	if s == nil {
		s = &Server{}
	}
	var changes []Change
	if o.About != nil {
		for _, part := range []struct{ what, was, now string }{
			{"name", s.About.Name, o.About.Name},
			{"title", s.About.Title, o.About.Title},
			{"instructions", s.About.Instructions, o.About.Instructions},
		} {
			switch {
			case part.was == part.now, o.About.Name == "" && part.what != "instructions":
			case part.was == "":
				changes = append(changes, Change{What: part.what, State: New, Is: []byte(part.now)})
			case part.now == "":
				changes = append(changes, Change{What: part.what, State: Gone, Was: []byte(part.was)})
			default:
				changes = append(changes, Change{What: part.what, State: Changed, Was: []byte(part.was), Is: []byte(part.now)})
			}
		}
	}
	for l := range Lists {
		if o.Items[l] != nil {
			changes = append(changes, s.compareList(l, o.Items[l])...)
		}
	}
	return changes
}

// compareList compares one list. A name that is there twice counts once: the first
// is the one that can be called.
func (s *Server) compareList(l List, items []Item) []Change {
	var changes []Change
	seen := make(map[string]bool, len(items))
	for _, it := range items {
		if seen[it.Key] {
			continue
		}
		seen[it.Key] = true
		was, locked := s.Items[l][it.Key]
		switch {
		case !locked:
			changes = append(changes, Change{What: l.Noun(), Key: it.Key, State: New, Is: it.Raw, list: l})
		case was.Digest != digestOf(normal(l, it.Raw)):
			changes = append(changes, Change{What: l.Noun(), Key: it.Key, State: Changed, Was: was.Text, Is: it.Raw, list: l})
		}
	}
	var gone []Change
	for key, was := range s.Items[l] {
		if !seen[key] {
			gone = append(gone, Change{What: l.Noun(), Key: key, State: Gone, Was: was.Text, list: l})
		}
	}
	slices.SortFunc(gone, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
	return append(changes, gone...)
}

// Take makes the lock of a server say what an offer says. What the offer does not
// know stays.
func (s *Server) Take(o *Offer) {
	if o.About != nil {
		was := s.About
		if s.About = *o.About; s.About.Name == "" {
			s.About.Name, s.About.Title = was.Name, was.Title
		}
	}
	for l := range Lists {
		if o.Items[l] == nil {
			continue
		}
		s.Items[l] = map[string]Locked{}
		for _, it := range o.Items[l] {
			if _, twice := s.Items[l][it.Key]; !twice {
				s.Items[l][it.Key] = lockedOf(l, it.Raw)
			}
		}
	}
}

// TakeChange makes the lock of a server say what one change says.
func (s *Server) TakeChange(c *Change) {
	switch {
	case !c.Entry():
		*s.About.part(c.What) = string(c.Is)
	case c.State == Gone:
		delete(s.Items[c.list], c.Key)
	default:
		if s.Items[c.list] == nil {
			s.Items[c.list] = map[string]Locked{}
		}
		s.Items[c.list][c.Key] = lockedOf(c.list, c.Is)
	}
}

func (a *About) part(what string) *string {
	switch what {
	case "name":
		return &a.Name
	case "title":
		return &a.Title
	}
	return &a.Instructions
}

func lockedOf(l List, raw []byte) Locked {
	text := normal(l, raw)
	return Locked{digestOf(text), text}
}

// Item returns what is locked of an entry of a list, and false where nothing is. The
// receiver may be nil.
func (s *Server) Item(l List, key string) (Locked, bool) {
	if s == nil {
		return Locked{}, false
	}
	it, ok := s.Items[l][key]
	return it, ok
}
