package policy

import (
	"strings"

	"github.com/cedar-policy/cedar-go/types"
)

// Server reports whether a server is visible: some item of it could be, listed or not.
func (v *View) Server(name string) bool {
	if v.world.set == nil {
		return true
	}
	s := v.world.servers[name]
	if s == nil {
		s = v.world.set.server(Server{Name: name})
	}
	for _, kind := range []Kind{Tool, Prompt, Resource} {
		permitted, refused := false, false
		for _, r := range v.world.set.rules {
			if r.Shadow {
				continue
			}
			might, must := v.reach(r, kind, s)
			if r.Permit {
				permitted = permitted || might
			} else {
				refused = refused || must && r.Limit == nil && r.Question == ""
			}
		}
		if permitted && !refused {
			return true
		}
	}
	return false
}

// reach returns whether a rule might hold, and must hold, for items of a kind of a server
// that are not known.
func (v *View) reach(r *rule, kind Kind, s *server) (might, must bool) {
	rest := partially(env{
		Entities:  &entities{world: v.world, principal: v.principal},
		Principal: v.principal.UID,
		Action:    types.NewEntityUID("Action", types.String(kindActions[kind])),
		Resource:  unknownResource(),
		Context:   unknownContext(),
	}, r.syntax)
	if rest.never || r.Permit && rest.failed != "" {
		return false, false
	}
	might, must = v.world.set.covers(r.syntax.Resource, kind, s)
	return might, must && (rest.left == nil || len(rest.left.Conditions) == 0)
}

// could reports whether an entity could be one of a kind of a server, or has them in it;
// all says that it has each of them in it.
func (s *Set) could(e types.EntityUID, kind Kind, srv *server) (might, all bool) {
	switch e.Type {
	case "Server":
		return e == srv.uid, e == srv.uid
	case kindTypes[kind]:
		name, _, _ := strings.Cut(string(e.ID), "/")
		return name == srv.Name, false
	case "Label":
		for _, l := range srv.labels {
			if l == string(e.ID) {
				return true, true
			}
		}
		for _, g := range s.labels[string(e.ID)] {
			name, _, _ := strings.Cut(g.pattern, "/")
			might = might || g.kinds[kind] && match(name, srv.Name)
		}
		if s.fromAnnotations && kind == Tool && (e.ID == "untrusted" || e.ID == "outbound") {
			might = true
		}
	}
	return might, false
}

// Concerns reports whether a policy could refuse local something of a server, whatever the
// server offers.
func (s *Set) Concerns(srv Server) bool {
	if s == nil {
		return false
	}
	w := s.World([]Server{srv}, nil)
	groups := s.GroupsOf(nil)
	v := &View{world: w, principal: userEntity(nil, groups)}
	for _, kind := range []Kind{Tool, Prompt, Resource} {
		allowed := false
		for _, r := range s.rules {
			if r.Shadow {
				continue
			}
			might, must := v.reach(r, kind, w.servers[srv.Name])
			if !r.Permit && might {
				return true
			}
			allowed = allowed || r.Permit && must && len(r.Scopes) == 0
		}
		if !allowed {
			return true
		}
	}
	return false
}
