package hosts

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/yamledit"
)

// View is a part of the tools of a gateway, as serve.views of config.yaml has it. Its servers
// have the names of the gateway's file.
type View struct {
	Name string
	// Tools are what it shows, nil for everything.
	Tools []Selection
	// Search says that clients find tools with a search instead of a list.
	Search bool
	// Changes are what is different about tools.
	Changes []ToolChange
}

// Selection is some tools of one server.
type Selection struct {
	Server string
	// Patterns are names of tools, in which * is any characters; nil for every tool.
	Patterns []string
	// Not leaves the tools out.
	Not bool
}

// ToolChange is another name or text of one tool; "" leaves what the server says.
type ToolChange struct {
	Server, Tool, Name, Title, Description string
}

// gathered is the file of a gateway: its servers as entries of the gateway's dialect, and what
// it says beside them. It is read, and never written.
type gathered struct {
	text    []byte
	servers members
	found   map[string]*found
	views   []View
	left    []string
}

// found is what reading a server has to say about it.
type found struct {
	notes []string
	lost  []Loss
	skip  string
}

func (f *found) lose(setting, instead string) {
	if l := (Loss{setting, instead}); !slices.Contains(f.lost, l) {
		f.lost = append(f.lost, l)
	}
}

// errGathered is for attempts to edit the file of a gateway.
var errGathered = errors.New("files of gateways are read only")

func (g *gathered) Bytes() []byte           { return g.text }
func (g *gathered) names([]string) []string { return g.servers.names }
func (*gathered) line([]string) int         { return 0 }

func (g *gathered) value(path []string) json.RawMessage { return g.servers.values[path[len(path)-1]] }

func (*gathered) set(json.RawMessage, []string) (document, error) { return nil, errGathered }
func (*gathered) remove([]string) (document, error)               { return nil, errGathered }

// add adds a server. One of a name that is there gets a number.
func (g *gathered) add(name string, entry members) *found {
	if name == "" {
		name = "server"
	}
	free := name
	for n := 2; g.servers.values[free] != nil; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	g.servers.put(free, entry.raw())
	if g.found == nil {
		g.found = map[string]*found{}
	}
	g.found[free] = &found{}
	return g.found[free]
}

// skip adds a server that cannot be imported.
func (g *gathered) skip(name, why string) *found {
	var none members
	none.set("command", "-")
	f := g.add(name, none)
	f.skip = why
	return f
}

// loseAll says of every server that a setting of the gateway is lost.
func (g *gathered) loseAll(setting string, value json.RawMessage, instead string) {
	if saysNothing(value) {
		return
	}
	for _, f := range g.found {
		f.lose(setting, instead)
	}
}

// leave notes the members of an object that are left out: all but some, and but those that say
// nothing.
func (g *gathered) leave(prefix string, of members, but ...string) {
	for _, name := range of.names {
		if !slices.Contains(but, name) && !saysNothing(of.values[name]) {
			g.left = append(g.left, prefix+name)
		}
	}
}

// Views returns the views that the file of a gateway describes.
func (f *File) Views() []View {
	if g, ok := f.doc.(*gathered); ok {
		return g.views
	}
	return nil
}

// Left returns the settings of a gateway, beside its servers, that mcpctl has no place for.
func (f *File) Left() []string {
	if g, ok := f.doc.(*gathered); ok {
		return g.left
	}
	return nil
}

// objects returns the documents of a text that are objects, in the order of their members.
func (k form) objects(text []byte) ([]members, error) {
	if k != formYAML {
		doc, err := jsonedit.Parse(text)
		if err != nil {
			return nil, err
		}
		return []members{objectOf(doc.Value())}, nil
	}
	docs, err := yamledit.Documents(text)
	out := make([]members, len(docs))
	for i, raw := range docs {
		out[i] = objectOf(raw)
	}
	return out, err
}

// objectOf returns an object's members, none for another value.
func objectOf(raw json.RawMessage) (m members) {
	if len(raw) == 0 || raw[0] != '{' {
		return m
	}
	doc, err := jsonedit.Parse(raw)
	if err != nil {
		return m
	}
	for _, name := range doc.Names() {
		m.put(name, doc.Value(name))
	}
	return m
}

// has reports whether an object has one of some members.
func (m members) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return m.values[name] != nil })
}

// object returns the object at a path of names.
func (m members) object(path ...string) members {
	for _, name := range path {
		m = objectOf(m.values[name])
	}
	return m
}

// text returns the text of a member; a number or word as it is written.
func (m members) text(name string) string {
	var s string
	raw := m.values[name]
	switch {
	case raw == nil || json.Unmarshal(raw, &s) == nil:
		return s
	case raw[0] == '{' || raw[0] == '[':
		return ""
	}
	return string(raw)
}

// list returns the elements of a member.
func (m members) list(name string) []json.RawMessage {
	var list []json.RawMessage
	_ = json.Unmarshal(m.values[name], &list)
	return list
}

// objects returns the elements of a member that are objects.
func (m members) objects(name string) []members {
	var out []members
	for _, raw := range m.list(name) {
		if raw[0] == '{' {
			out = append(out, objectOf(raw))
		}
	}
	return out
}

// texts returns the elements of a member that are texts.
func (m members) texts(name string) []string {
	var out []string
	for _, raw := range m.list(name) {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// pairsOf returns the texts of an object, each as write has it.
func (m members) pairsOf(name string, write func(string) string) pairs {
	var out pairs
	of := m.object(name)
	for _, key := range of.names {
		out = append(out, pair{key, write(of.text(key))})
	}
	return out
}
