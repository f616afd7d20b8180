package configedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// maxMends bounds how much is mended in one file; the rest stays.
const maxMends = 200

// Fixed is one fault that was mended. Values of the file are not part of it: they may be
// secret.
type Fixed struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// Fix mends what it can in the text of a servers.json without a doubt about what is
// meant. A mend is made only if the file has fewer faults and warnings with it and no new
// fault. The error is that of a text that cannot be mended to JSON.
func Fix(path string, text []byte) (after []byte, fixed []Fixed, err error) {
	f, err := config.Parse(path, text)
	if err != nil {
		cut, m := withoutRubbish(text, err)
		if cut == nil {
			return text, nil, err
		}
		if f, err = config.Parse(path, cut); err != nil {
			return text, nil, err
		}
		fixed = append(fixed, m)
	}
	for len(fixed) < maxMends {
		next, m := fixOne(f)
		if next == nil {
			break
		}
		f, fixed = next, append(fixed, *m)
	}
	return f.Bytes(), fixed, nil
}

// closers are what may stand behind a whole document by mistake.
const closers = "}],;"

// maxClosers bounds how much of what is behind the last name or value is looked at.
const maxClosers = 500

// withoutRubbish returns a text without brackets and commas behind its end, nil for a text
// that has another fault.
func withoutRubbish(text []byte, fault error) ([]byte, Fixed) {
	p, ok := errors.AsType[*config.Problem](fault)
	if !ok {
		return nil, Fixed{}
	}
	end := len(bytes.TrimRight(text, closers+" \t\r\n"))
	for i := end; i < min(len(text), end+maxClosers); i++ { // the shortest text that is whole
		if !strings.ContainsRune(closers, rune(text[i])) {
			continue
		}
		cut := text[:i+1]
		if d, err := jsonedit.Parse(cut); err == nil && d.Root() != nil {
			newline := ""
			if bytes.HasSuffix(text, []byte("\n")) {
				newline = "\n"
			}
			return append(slices.Clone(cut), newline...), Fixed{p.Line, p.Column, "removed what is behind the end of the JSON"}
		}
	}
	return nil, Fixed{}
}

// mender tries mends on one document.
type mender struct {
	f    *config.File
	doc  *jsonedit.Document
	done *config.File // with the first mend that helps
	what *Fixed
}

// fixOne returns the file with one fault fixed, nil for none.
func fixOne(f *config.File) (*config.File, *Fixed) {
	doc, err := jsonedit.Parse(f.Bytes())
	if err != nil || doc.Root() == nil || len(f.Faults())+len(f.Warnings()) == 0 {
		return nil, nil
	}
	m := &mender{f: f, doc: doc}
	m.rootKey()
	servers := doc.Lookup("mcpServers")
	if servers == nil {
		return m.done, m.what
	}
	if obj, ok := servers.Value.(*hujson.Object); ok {
		m.twice(servers)
		for i := range obj.Members {
			m.alias(obj, &obj.Members[i])
			m.entry(&obj.Members[i].Value)
		}
	}
	return m.done, m.what
}

// try takes an edit if it helps.
func (m *mender) try(offset int, message string, edit func() (*jsonedit.Document, error)) {
	if m.done != nil {
		return
	}
	d, err := edit()
	if err != nil {
		return
	}
	after, err := config.Parse(m.f.Path(), d.Bytes())
	if err != nil || len(after.Faults()) > len(m.f.Faults()) ||
		len(after.Faults())+len(after.Warnings()) >= len(m.f.Faults())+len(m.f.Warnings()) {
		return
	}
	line, column := m.doc.Position(offset)
	m.done, m.what = after, &Fixed{line, column, message}
}

func (m *mender) rename(member *hujson.ObjectMember, name string) {
	message := fmt.Sprintf("%q is now %q", jsonedit.Name(member), name)
	m.try(member.Name.StartOffset, message, func() (*jsonedit.Document, error) {
		return m.doc.Replace(member.Name.StartOffset, member.Name.EndOffset, strconv.Quote(name))
	})
}

// rootKey renames what other hosts call mcpServers, and its misspellings.
func (m *mender) rootKey() {
	obj, ok := m.doc.Root().Value.(*hujson.Object)
	if !ok || m.doc.Lookup("mcpServers") != nil {
		return
	}
	for i := range obj.Members {
		member := &obj.Members[i]
		name := jsonedit.Name(member)
		known := slices.Contains([]string{"servers", "mcp", "mcp_servers", "context_servers"}, name)
		if _, isObject := member.Value.Value.(*hujson.Object); isObject && (known || len(plain.Nearest(name, []string{"mcpServers"}, 1)) > 0) {
			m.rename(member, "mcpServers")
		}
	}
}

// alias makes an alias one that can be used, if the result is free.
func (m *mender) alias(servers *hujson.Object, member *hujson.ObjectMember) {
	name := jsonedit.Name(member)
	clean := config.CleanAlias(name)
	taken := slices.ContainsFunc(servers.Members, func(o hujson.ObjectMember) bool { return jsonedit.Name(&o) == clean })
	if clean != "" && clean != name && !taken && !config.Reserved(clean) {
		m.rename(member, clean)
	}
}

// twice removes members that are there twice with the same value.
func (m *mender) twice(object *hujson.Value) {
	members := object.Value.(*hujson.Object).Members
	for i := range members {
		for j := range i {
			if jsonedit.Name(&members[i]) == jsonedit.Name(&members[j]) && bytes.Equal(jsonedit.Standard(members[i].Value), jsonedit.Standard(members[j].Value)) {
				message := fmt.Sprintf("removed the second %q, which says the same as the first", jsonedit.Name(&members[i]))
				m.try(members[i].Name.StartOffset, message, func() (*jsonedit.Document, error) { return m.doc.RemoveMember(object, i) })
			}
		}
	}
}

// others are names that other hosts have for a key.
func others(name string) string {
	return map[string]string{
		"serverUrl": "url", "httpUrl": "url", "endpoint": "url", "uri": "url",
		"environment": "env", "envs": "env", "transport": "type", "transportType": "type",
	}[name]
}

// entry mends the members of one entry.
func (m *mender) entry(v *hujson.Value) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return
	}
	m.twice(v)
	keys := config.Keys()
	for i := range obj.Members {
		member := &obj.Members[i]
		name := jsonedit.Name(member)
		if !slices.Contains(keys, name) {
			m.key(obj, member, keys)
			continue
		}
		if name == "type" {
			m.typ(v, i)
		}
		if s, err := SchemaAt(Names("mcpServers", "x", name)); err == nil && s != nil {
			m.value(&member.Value, name, s)
		}
	}
}

// key renames an unknown key that one known key alone is like, and that the entry lacks.
func (m *mender) key(obj *hujson.Object, member *hujson.ObjectMember, keys []string) {
	name := jsonedit.Name(member)
	meant := others(name)
	if near := plain.Nearest(name, keys, 2); meant == "" && len(near) == 1 {
		meant = near[0]
	}
	found := slices.ContainsFunc(obj.Members, func(o hujson.ObjectMember) bool { return jsonedit.Name(&o) == meant })
	if meant != "" && !found {
		m.rename(member, meant)
	}
}

// typ removes a type that contradicts command or url, which decide without it.
func (m *mender) typ(entry *hujson.Value, i int) {
	member := &entry.Value.(*hujson.Object).Members[i]
	text, ok := member.Value.Value.(hujson.Literal)
	if !ok || text.Kind() != '"' {
		return
	}
	word := text.String()
	if word == config.TransportCLI {
		m.try(member.Name.StartOffset, `"type": "cli" is now "cli": true`, func() (*jsonedit.Document, error) {
			return m.doc.Replace(member.Name.StartOffset, member.Value.EndOffset, `"cli": true`)
		})
		return
	}
	if known, _ := config.ParseType(word); known != "" {
		m.try(member.Name.StartOffset, fmt.Sprintf(`removed "type": %q, which contradicts the rest`, word), func() (*jsonedit.Document, error) {
			return m.doc.RemoveMember(entry, i)
		})
	}
}

// value mends a value of the wrong type that can only mean one of the right type.
func (m *mender) value(v *hujson.Value, at string, s *Schema) {
	kind := v.Value.Kind()
	replace := func(message, text string) {
		m.try(v.StartOffset, at+" "+message, func() (*jsonedit.Document, error) {
			return m.doc.Replace(v.StartOffset, v.EndOffset, text)
		})
	}
	switch lit, _ := v.Value.(hujson.Literal); {
	case s.Type == "boolean" && kind == '"' && (lit.String() == "true" || lit.String() == "false"):
		replace("is now "+lit.String()+", without quotes", lit.String())
	case s.Type == "string" && (kind == '0' || kind == 't' || kind == 'f') && !strings.Contains(s.Ref, "duration"):
		replace("is now a string", strconv.Quote(string(lit)))
	case s.Type == "array" && kind == '"' && s.Items != nil && s.Items.Type == "string" && !strings.ContainsAny(lit.String(), " \t\r\n"):
		replace("is now an array with this string", "["+string(lit)+"]")
	}
	switch list := v.Value.(type) {
	case *hujson.Array:
		for i := range list.Elements {
			if s.Items != nil && s.Items.Type == "string" {
				m.value(&list.Elements[i], fmt.Sprintf("%s[%d]", at, i), s.Items)
			}
		}
	case *hujson.Object:
		more := &Schema{}
		if s.Properties != nil || json.Unmarshal(s.AdditionalProperties, more) != nil {
			return
		}
		for i := range list.Members {
			m.value(&list.Members[i].Value, at+"."+jsonedit.Name(&list.Members[i]), more)
		}
	}
}
