package clihelp

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// flagSet gathers the flags of a command. Each name leads to one flag.
type flagSet struct {
	list  []Flag
	index map[string]int
}

// add adds a flag. Names that are taken are left to the flag that has them; a flag with
// no other name tells that one what it lacks.
func (s *flagSet) add(f Flag) {
	if len(s.list) >= maxItems {
		return
	}
	if s.index == nil {
		s.index = map[string]int{}
	}
	names := f.names()
	fresh := slices.DeleteFunc(slices.Clone(names), func(n string) bool { _, ok := s.index[n]; return ok })
	if len(names) == 0 {
		return
	}
	if len(fresh) == 0 {
		s.list[s.index[names[0]]].fill(f)
		return
	}
	if len(fresh) < len(names) {
		if i := s.index[taken(names, fresh)]; s.list[i].accepts(f) {
			s.list[i].fill(f)
			s.list[i].adopt(fresh)
			s.record(i)
			return
		}
		f.keep(fresh)
		if !strings.HasPrefix(f.Long, "--") && lowerWords().MatchString(f.Value) { // -p, --style=slash: -p has no value
			f.Value, f.Kind, f.Optional = "", Bool, false
		}
	}
	s.list = append(s.list, f)
	s.record(len(s.list) - 1)
}

var lowerWords = lazy.Regexp(`^[a-z][a-z0-9-]*(?:,[a-z-]+)*$`)

func taken(names, fresh []string) string {
	for _, n := range names {
		if !slices.Contains(fresh, n) {
			return n
		}
	}
	return ""
}

func (s *flagSet) record(i int) {
	for _, n := range s.list[i].names() {
		if _, ok := s.index[n]; !ok {
			s.index[n] = i
		}
	}
}

// addFromUsage adds a flag that a form of usage names. --no-x is another form of --x
// there.
func (s *flagSet) addFromUsage(f Flag) {
	if rest, ok := strings.CutPrefix(f.Long, "--no-"); ok && f.Value == "" {
		if i, ok := s.index["--"+rest]; ok {
			if s.list[i].Negated == "" && s.list[i].Value == "" && s.index[f.Long] == 0 {
				s.list[i].Negated = f.Long
			}
			return
		}
	}
	if i, ok := s.index[f.Short]; ok && f.Kind == Bool && f.Long == "" && strings.Contains(s.list[i].Value, " ") && s.list[i].Words == 0 {
		g := &s.list[i] // -n no host names
		g.Summary, g.Value, g.Kind = strings.TrimSpace(g.Value+" "+g.Summary), "", Bool
	}
	s.add(f)
}

// takes reports whether a flag is known, and has a value.
func (s *flagSet) takes(name string) (known, value bool) {
	i, ok := s.index[name]
	return ok, ok && (s.list[i].Value != "" || s.list[i].Summary != "" && !s.hasValues())
}

// hasValues reports that the list of flags shows values at all: npm's does not.
func (s *flagSet) hasValues() bool {
	return slices.ContainsFunc(s.list, func(f Flag) bool { return f.Value != "" })
}

// finish returns the flags. Where a text speaks of suffixes, a number may have one.
func (s *flagSet) finish(suffix bool) []Flag {
	out := s.list[:0]
	for i, f := range s.list {
		if rest, ok := strings.CutPrefix(f.Long, "--no-"); ok && f.Value == "" && f.Short == "" && len(f.Aliases) == 0 {
			if at, ok := s.index["--"+rest]; ok && at != i && s.list[at].Value == "" && s.list[at].Long == "--"+rest && s.negate(out, "--"+rest, f.Long) {
				continue
			}
		}
		if suffix && loose(f.Value) {
			f.Kind = String
		}
		out = append(out, f)
	}
	return out
}

// act makes switches of flags that are what the tool does: what stands behind one is no
// value but what it works on, in words of their own.
func (s *flagSet) act(names []string) {
	for _, n := range names {
		if i, ok := s.index[n]; ok {
			f := &s.list[i]
			f.Value, f.Kind, f.Enum, f.Optional, f.Join, f.Words, f.Repeated = "", Bool, nil, false, "", 0, false
		}
	}
}

// negate notes the negated form of a switch that stands before it.
func (s *flagSet) negate(flags []Flag, long, negation string) bool {
	for i := range flags {
		if flags[i].Long == long && (flags[i].Negated == "" || flags[i].Negated == negation) {
			flags[i].Negated = negation
			return true
		}
	}
	return false
}

// names returns all spellings of a flag.
func (f Flag) names() []string {
	var out []string
	for _, n := range append([]string{f.Long, f.Short, f.Negated}, f.Aliases...) {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}

// keep drops the names that are not in fresh.
func (f *Flag) keep(fresh []string) {
	drop := func(n *string) {
		if !slices.Contains(fresh, *n) {
			*n = ""
		}
	}
	drop(&f.Long)
	drop(&f.Short)
	drop(&f.Negated)
	f.Aliases = slices.DeleteFunc(f.Aliases, func(n string) bool { return !slices.Contains(fresh, n) })
	if f.Long == "" && len(f.Aliases) > 0 {
		f.Long, f.Aliases = f.Aliases[0], f.Aliases[1:]
	}
	if f.Long == "" && f.Short == "" {
		f.Long, f.Negated = f.Negated, ""
	}
}

// accepts reports that g is the same flag under more names.
func (f Flag) accepts(g Flag) bool {
	return f.Long == "" || g.Long == "" || f.Long == g.Long && f.Value == g.Value && (f.Short == "" || g.Short == "" || f.Short == g.Short)
}

func (f *Flag) adopt(names []string) {
	for _, n := range names {
		switch {
		case len(n) == 2 && f.Short == "":
			f.Short = n
		case len(n) > 2 && f.Long == "":
			f.Long = n
		default:
			f.Aliases = append(f.Aliases, n)
		}
	}
}

// fill takes from g what f lacks.
func (f *Flag) fill(g Flag) {
	if f.Value == "" && g.Value != "" && f.Negated == "" && f.Default == "" {
		f.Value, f.Kind, f.Optional, f.Join, f.Words, f.Glued = g.Value, g.Kind, g.Optional, g.Join, g.Words, g.Glued
		f.describe(f.Summary)
	}
	if f.Kind == "" {
		f.Kind = g.Kind
	}
	if f.Enum == nil && f.Value != "" && f.Kind == String {
		f.Enum = g.Enum
	}
	if f.Summary == "" {
		f.Summary = g.Summary
	}
	f.Repeated = f.Repeated || g.Repeated
	f.Required = f.Required || g.Required
	f.Deprecated = f.Deprecated || g.Deprecated
}
