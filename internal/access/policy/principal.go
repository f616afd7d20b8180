package policy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/mcpctl/mcpctl/internal/access"
)

// local is how policies name who is asked nothing: the id of the user and the group.
const local = "local"

func isLocal(p *access.Principal) bool { return p == nil || p.Provider == access.Local }

// userID returns the id of a principal's entity.
func userID(p *access.Principal) string {
	if p == nil {
		return local
	}
	return p.ID
}

// GroupsOf returns the groups of a principal, sorted: those that it has, those that it is a
// member of, and "local".
func (s *Set) GroupsOf(p *access.Principal) []string {
	return slices.Sorted(maps.Keys(s.MembershipOf(p)))
}

// MembershipOf returns the groups of a principal, each with the member of the group that
// the principal is by its configuration, "" for those that it has by itself.
func (s *Set) MembershipOf(p *access.Principal) map[string]string {
	in := make(map[string]string)
	if isLocal(p) {
		in[local] = ""
	}
	if p != nil {
		for _, g := range p.Groups {
			// Nobody becomes local, or somebody else, by the name of a group.
			if g != local && !strings.Contains(g, "|") && (!strings.Contains(g, "@") || strings.Contains(g, ":")) {
				in[g] = ""
			}
		}
	}
	if s != nil {
		for changed := true; changed; {
			changed = false
			for name, members := range s.groups {
				if _, already := in[name]; already || name == local {
					continue
				}
				if i := slices.IndexFunc(members, func(m string) bool { return isMember(p, m, in) }); i >= 0 {
					in[name], changed = members[i], true
				}
			}
		}
	}
	return in
}

// isMember reports whether a member of a group is a principal with groups.
func isMember(p *access.Principal, member string, in map[string]string) bool {
	_, inside := in[member]
	switch {
	case strings.Contains(member, "|"):
		return p != nil && p.ID == member
	case strings.Contains(member, ":"):
		return inside
	case strings.Contains(member, "@"):
		return p != nil && p.Email != "" && strings.EqualFold(p.Email, member)
	}
	return inside
}

// userEntity returns the entity of a principal. Groups are those of the principal.
func userEntity(p *access.Principal, groups []string) types.Entity {
	parents := make([]types.EntityUID, len(groups))
	for i, g := range groups {
		parents[i] = types.NewEntityUID("Group", types.String(g))
	}
	e := types.Entity{UID: types.NewEntityUID("User", types.String(userID(p))), Parents: types.NewEntityUIDSet(parents...)}
	attrs := types.RecordMap{"id": types.String(userID(p)), "name": types.String(local), "issuer": types.String(local), "client": types.String("")}
	if p != nil {
		issuer, _, _ := strings.Cut(p.ID, "|")
		attrs["name"], attrs["issuer"], attrs["client"] = types.String(p.Name), types.String(issuer), types.String(p.Client)
		tags := make(types.RecordMap, len(p.Tags))
		for name, values := range p.Tags {
			tags[types.String(name)] = stringSet(values)
		}
		e.Tags = types.NewRecord(tags)
	}
	e.Attributes = types.NewRecord(attrs)
	return e
}

func stringSet(texts []string) types.Set {
	values := make([]types.Value, len(texts))
	for i, t := range texts {
		values[i] = types.String(t)
	}
	return types.NewSet(values...)
}

// identity returns what policies read of a principal. Principals with the same identity
// have one view.
func (s *Set) identity(p *access.Principal, groups []string) string {
	var b []byte
	put := func(kind byte, texts ...string) {
		b = append(b, kind)
		for _, t := range texts {
			b = strconv.AppendQuote(b, t)
		}
	}
	r := &s.reads
	id := userID(p)
	if r.whole || r.ids[id] || r.attrs["id"] {
		put('i', id)
	}
	for _, g := range groups {
		if r.whole || r.groups[g] {
			put('g', g)
		}
	}
	if p == nil {
		return string(b)
	}
	issuer, _, _ := strings.Cut(p.ID, "|")
	for _, a := range []struct{ name, value string }{{"name", p.Name}, {"issuer", issuer}, {"client", p.Client}} {
		if r.whole || r.attrs[a.name] {
			put('a', a.name, a.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Tags)) {
		if r.whole || r.tags[name] {
			put('t', name)
			put('v', slices.Sorted(slices.Values(p.Tags[name]))...)
		}
	}
	for _, scope := range p.Scopes {
		if s.scopes[scope] {
			put('s', scope)
		}
	}
	return string(b)
}
