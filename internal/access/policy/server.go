package policy

import (
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
)

// subject is an item of which not everything is known.
type subject struct {
	kind   Kind
	server *server
	// pattern is what its id matches, with * for what is not known: any characters, also
	// slashes.
	pattern string
}

// could reports whether an entity could be a subject, or has it in it, and whether it must.
func (s *Set) could(e types.EntityUID, sub *subject) (might, must bool) {
	switch e.Type {
	case "Server":
		return e == sub.server.uid, e == sub.server.uid
	case sub.kind.entityType():
		return overlap(string(e.ID), sub.pattern), false
	case "Label":
		if slices.Contains(sub.server.labels, string(e.ID)) {
			return true, true
		}
		for _, g := range s.labels[string(e.ID)] {
			if g.kinds[sub.kind] && overlap(g.of(sub.kind), sub.pattern) {
				might = true
				must = must || within(g.of(sub.kind), sub.pattern)
			}
		}
		if s.fromAnnotations && sub.kind == Tool && (e.ID == "untrusted" || e.ID == "outbound") {
			might = true
		}
	}
	return might, must
}

// overlap reports whether some text matches a glob and a pattern, in which a * stands for
// any characters.
func overlap(glob, pattern string) bool {
	// reach[j] says that what of the glob was read can match what a beginning of the
	// pattern, of length j, matches.
	reach := make([]bool, len(pattern)+1)
	reach[0] = true
	stars := func() {
		for j := range len(pattern) {
			if reach[j] && pattern[j] == '*' {
				reach[j+1] = true
			}
		}
	}
	stars()
	for i := 0; i < len(glob); i++ {
		if glob[i] == '*' {
			slashes := i+2 == len(glob) && glob[i+1] == '*'
			for j := range len(pattern) {
				if reach[j] && (slashes || pattern[j] != '/') {
					reach[j+1] = true
				}
			}
			if slashes {
				break
			}
			continue
		}
		next := make([]bool, len(pattern)+1)
		for j := range len(pattern) {
			if !reach[j] {
				continue
			}
			switch pattern[j] {
			case '*':
				next[j] = true
			case glob[i]:
				next[j+1] = true
			}
		}
		reach = next
		stars()
	}
	return reach[len(pattern)]
}

// within reports whether a glob matches all texts that a pattern matches. It may say false
// where it does.
func within(glob, pattern string) bool {
	known, _, open := strings.Cut(pattern, "*")
	before, all := strings.CutSuffix(glob, "**")
	if !open {
		return match(glob, pattern)
	}
	if !all {
		return false
	}
	for i := range len(known) + 1 {
		if match(before, known[:i]) {
			return true
		}
	}
	return false
}

// Server reports whether a server is visible: some item of it could be, listed or not.
func (v *View) Server(name string) bool {
	if v.snapshot.set == nil {
		return true
	}
	s := v.snapshot.servers[name]
	if s == nil {
		s = v.snapshot.set.server(Server{Name: name})
	}
	for _, kind := range []Kind{Tool, Prompt, Resource} {
		sub := &subject{kind: kind, server: s, pattern: name + "/*"}
		permitted, refused := false, false
		for i := range v.left[kind.Action()] {
			l := &v.left[kind.Action()][i]
			might, must := v.snapshot.set.covers(l.residue.left.Resource, sub)
			switch {
			case l.rule.Shadow:
			case l.rule.Permit:
				permitted = permitted || might && l.residue.failed == ""
			default:
				refused = refused || must && !l.residue.conditional() && l.rule.plainly()
			}
		}
		if permitted && !refused {
			return true
		}
	}
	return false
}

// vaguely decides an item of which it is not known what it is. A template is visible if
// some resource of it could be. A text without a scheme may be read if that may be whatever
// it stands for.
func (v *View) vaguely(d *decision, e *entry) {
	sub := &subject{kind: e.Kind, server: e.server, pattern: e.Server + "/*"}
	if e.Kind == Template {
		sub.pattern = e.Server + "/" + NormalPattern(holes(e.uri))
	}
	for i := range v.left[d.action] {
		l := &v.left[d.action][i]
		might, must := v.snapshot.set.covers(l.residue.left.Resource, sub)
		must = must && l.reads.resource == readsNothing
		t := l.term
		if l.reads.resource != readsNothing {
			t = term{rule: l.rule, always: true, failed: l.residue.failed != ""}
		}
		likely := might
		if l.rule.Permit != (e.Kind == Template) {
			likely = must
		}
		switch {
		case !likely, e.Kind == Template && !l.rule.Permit && !l.rule.plainly():
		default:
			d.add(t, l.lacks)
		}
	}
	d.settle(v)
}

// differing returns the first rule that denies or asks about some resources of the scheme
// and host of an ambiguous URI and may not be about all; nil for none.
func (v *View) differing(action Action, e *entry) *rule {
	var patterns []string
	for _, place := range e.read.Places() {
		behind := []string{"", "/*", "?*", "#*"}
		if strings.HasSuffix(place, ":") {
			behind = []string{"*"}
		}
		for _, b := range behind {
			patterns = append(patterns, e.Server+"/"+place+b)
		}
	}
	for i := range v.left[action] {
		l := &v.left[action][i]
		if l.rule.Permit || l.rule.Shadow || l.rule.Limit != nil {
			continue
		}
		for _, pattern := range patterns {
			might, must := v.snapshot.set.covers(l.residue.left.Resource, &subject{kind: e.Kind, server: e.server, pattern: pattern})
			if might && (!must || l.reads.resource != readsNothing) {
				return l.rule
			}
		}
	}
	return nil
}

// holes returns a URI template with a * for each expression.
func holes(template string) string {
	var out strings.Builder
	for {
		text, rest, ok := strings.Cut(template, "{")
		out.WriteString(strings.ReplaceAll(text, "*", ""))
		if !ok {
			return out.String()
		}
		out.WriteByte('*')
		if _, template, ok = strings.Cut(rest, "}"); !ok {
			return out.String()
		}
	}
}

// Concerns reports whether a policy could refuse local something of a server, whatever the
// server offers.
func (s *Set) Concerns(srv Server) bool {
	if s == nil {
		return false
	}
	w := s.Snapshot([]Server{srv}, nil)
	v := w.View(nil)
	asks, c := v.On(Question, srv.Name)
	if !asks || c != nil && slices.ContainsFunc(c.forbids, func(t term) bool { return !t.rule.Shadow }) {
		return true
	}
	for _, kind := range []Kind{Tool, Prompt, Resource} {
		sub := &subject{kind: kind, server: w.servers[srv.Name], pattern: srv.Name + "/*"}
		allowed := false
		for i := range v.left[kind.Action()] {
			l := &v.left[kind.Action()][i]
			might, must := s.covers(l.residue.left.Resource, sub)
			switch {
			case l.rule.Shadow:
			case !l.rule.Permit && might:
				return true
			case l.rule.Permit:
				allowed = allowed || must && l.residue.always && !l.lacks
			}
		}
		if !allowed {
			return true
		}
		for i := range v.left[Deliver] {
			l := &v.left[Deliver][i]
			if might, _ := s.covers(l.residue.left.Resource, sub); might && !l.rule.Permit && !l.rule.Shadow {
				return true
			}
		}
	}
	return false
}
