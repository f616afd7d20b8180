package names

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// The kinds of things that have names, as in Retired.Kind.
const (
	KindTool     = "tool"
	KindPrompt   = "prompt"
	KindResource = "resource"
	KindTemplate = "template"
	KindType     = "type"
	KindField    = "field"
	KindValue    = "value"
	KindDefault  = "default"
)

// Ranks: tools before prompts before resources before templates, and parameters
// and results before the types inside them. In each, a name in Go's style comes
// before one that is not, and a complete one before one with words dropped.
const (
	rankFirst = iota * 10
	rankSecond
	rankThird
	rankFourth
)

func styledRank(rank int, s string) int {
	switch style(s) {
	case "":
		return rank
	case "Pascal", "Upper":
		return rank + 1
	}
	return rank + 2
}

type resolver struct {
	p          *model.Package
	locked     *locked
	collisions []Collision
}

// methods returns the client's methods.
func (r *resolver) methods() []*item {
	var items []*item
	for _, t := range r.p.Tools {
		items = append(items, &item{
			kind: KindTool, key: t.Name, rank: styledRank(rankFirst, t.Name),
			wanted: func() []string { return spelled(t.Name, reservedMethods, "Tool") },
			set:    func(name string) { t.GoName = name },
		})
	}
	for _, p := range r.p.Prompts {
		name, full := Join(Exported(p.Name), "Prompt")
		rank := styledRank(rankSecond, p.Name)
		if name != full {
			rank += 3
		}
		items = append(items, &item{
			kind: KindPrompt, key: p.Name, rank: rank,
			wanted: func() []string { return []string{name, full, "Prompt" + Exported(p.Name), full + style(p.Name)} },
			set:    func(name string) { p.GoName = name },
		})
	}
	for _, x := range r.p.Resources {
		items = append(items, resourceMethod(KindResource, x.URI, x.Name, rankThird, func(name string) { x.GoName = name }))
	}
	for _, x := range r.p.Templates {
		items = append(items, resourceMethod(KindTemplate, x.URITemplate, x.Name, rankFourth, func(name string) { x.GoName = name }))
	}
	return items
}

// resourceMethod returns the method for a resource: Read and its name, without a
// file's extension and without the word Resource at the end. Names of resources
// are not unique, their URIs are.
func resourceMethod(kind, uri, name string, rank int, set func(string)) *item {
	_, rest, ok := strings.Cut(uri, "://")
	if !ok {
		rest = uri
	}
	if strings.TrimSpace(name) == "" {
		name = path.Base(rest)
	}
	short := strings.TrimSuffix(name, extension(name))
	long := Exported(name)
	best := Exported(short)
	for _, word := range []string{"Template", "Resource"} {
		if cut := strings.TrimSuffix(best, word); cut != "" {
			best = cut
		}
	}
	if best != long {
		rank++
	}
	return &item{
		kind: kind, key: uri, rank: rank, set: set,
		wanted: func() []string { return []string{"Read" + best, "Read" + long, "Read" + Exported(rest)} },
	}
}

// extension returns a file name's extension, such as ".md"; "" where there is
// none.
func extension(name string) string {
	ext := path.Ext(name)
	if len(ext) < 2 || len(ext) > 6 || ext == name || strings.ContainsFunc(ext[1:], notLetterOrDigit) || unicode.IsDigit(rune(ext[1])) {
		return ""
	}
	return ext
}

func notLetterOrDigit(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }

// spelled returns the names for a text: its own, then with its style appended.
// Where the first is reserved, word is appended.
func spelled(text string, reserved []string, word string) []string {
	name := Exported(text)
	all := spellOut(text)
	if slices.Contains(reserved, name) {
		name, all = name+word, all+word
	}
	return []string{name, all, name + style(text)}
}

// types returns the declarations.
func (r *resolver) types() []*item {
	top := map[*model.Decl]func() string{}
	tools := make(map[string]*model.Tool, len(r.p.Tools))
	for _, t := range r.p.Tools {
		tools[t.Name] = t
		top[t.Params] = func() string { return t.GoName + "Params" }
		top[t.Result] = func() string { return t.GoName + "Result" }
	}
	for _, p := range r.p.Prompts {
		top[p.Params] = func() string { return p.GoName + "Params" }
	}
	for _, t := range r.p.Templates {
		top[t.Params] = func() string { return strings.TrimPrefix(t.GoName, "Read") + "URI" }
	}
	items := make([]*item, 0, len(r.p.Decls))
	for _, d := range r.p.Decls {
		i := &item{kind: KindType, key: d.Key, rank: rankFirst, set: func(name string) { d.Name = name }}
		if name, ok := top[d]; ok {
			i.wanted = func() []string { return []string{name()} }
		} else {
			r.nested(i, d, tools[d.Tool])
		}
		if d.Form == model.Union {
			i.companions = func(name string) []string { return []string{"New" + name, name + "Arm", name + "Unknown"} }
		}
		items = append(items, i)
	}
	return items
}

// nested names a type after its tool and its place in it.
func (r *resolver) nested(i *item, d *model.Decl, t *model.Tool) {
	side := "Input"
	i.rank = rankSecond
	if d.Side == model.Output {
		side = "Output"
		i.rank++
	}
	// A union needs more names than its own: it is easier for its arms to change
	// theirs.
	if d.Form != model.Union {
		i.rank += 4
	}
	i.wanted = func() []string {
		if t == nil {
			return []string{Exported(d.Want), Exported(side + d.Want)}
		}
		name, full := Join(t.GoName, d.Want)
		return []string{name, full, t.GoName + side + d.Want}
	}
	if t == nil {
		return
	}
	// The tool's own spelling decides, not the suffix that it may have.
	if name, full := Join(Exported(t.Name), d.Want); name != full {
		i.rank += 2
	}
}

// fields returns a declaration's fields.
func (r *resolver) fields(d *model.Decl) []*item {
	items := make([]*item, 0, len(d.Fields))
	for _, f := range d.Fields {
		i := &item{kind: KindField, key: d.Key, member: f.JSON, rank: styledRank(rankFirst, f.JSON), set: func(name string) { f.Name = name }}
		i.wanted = func() []string { return spelled(f.JSON, reservedFields, "Member") }
		if d.Form == model.Tuple {
			i.rank = rankFirst
			i.wanted = func() []string { return []string{"V" + f.JSON} }
		}
		items = append(items, i)
	}
	return items
}

// values returns the constants of all enums.
func (r *resolver) values() []*item {
	var items []*item
	for _, d := range r.p.Decls {
		for _, v := range d.Values {
			items = append(items, &item{
				kind: KindValue, key: d.Key, member: v.Text, rank: styledRank(rankFirst, v.Text),
				wanted: func() []string {
					name := appendText(d.Name, v.Text)
					return []string{name, d.Name + spellOut(v.Text), name + style(v.Text)}
				},
				set: func(name string) { v.Name = name },
			})
		}
	}
	return items
}

// appendText returns a name with a text appended, which may begin with a digit
// there.
func appendText(name, text string) string {
	tail := Exported(text)
	if p := pascal(text); p != "" && !unicode.IsLetter([]rune(p)[0]) {
		tail = p
		if unicode.IsDigit([]rune(p)[0]) && endsInDigit(name) {
			tail = "_" + tail
		}
	}
	return name + tail
}

// defaults returns the constants of all defaults that can be constants.
func (r *resolver) defaults() []*item {
	var items []*item
	for _, d := range r.p.Decls {
		for _, f := range d.Fields {
			if !scalar(f.Default) || f.Presence == model.Constant {
				continue
			}
			items = append(items, &item{
				kind: KindDefault, key: d.Key, member: f.JSON, rank: rankFirst,
				wanted: func() []string {
					full := "Default" + d.Name + f.Name
					if d.Top && d.Side == model.Input {
						return []string{"Default" + strings.TrimSuffix(d.Name, "Params") + f.Name, full}
					}
					return []string{full}
				},
				set: func(name string) { f.DefaultName = name },
			})
		}
	}
	return items
}

// scalar reports whether a JSON text can be a Go constant.
func scalar(text string) bool {
	return text == "true" || text == "false" || text != "" && strings.ContainsAny(text[:1], `"-0123456789`)
}
