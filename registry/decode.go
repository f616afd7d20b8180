package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// officialMeta is the registry's own key in a record's _meta.
const officialMeta = "io.modelcontextprotocol.registry/official"

// ParseServer reads a server.json document, or a record that wraps one in a
// member "server". Names may be in camelCase or, as before September 2025, in
// snake_case. Only a document that is not a JSON object or has no name is an
// error.
func ParseServer(raw json.RawMessage) (*Server, error) {
	rec, err := ParseRecord(raw)
	if err != nil {
		return nil, err
	}
	return &rec.Server, nil
}

// ParseRecord reads one item of a list: {"server":…,"_meta":…}, or the
// document itself with _meta inside.
func ParseRecord(raw json.RawMessage) (*Record, error) {
	var item object
	if err := json.Unmarshal(raw, &item); err != nil || item == nil {
		return nil, errors.New("a server document must be a JSON object")
	}
	doc, docRaw := item, raw
	if inner, ok := item["server"]; ok {
		doc = nil
		if err := json.Unmarshal(inner, &doc); err != nil || doc == nil {
			return nil, errors.New(`the member "server" is not an object`)
		}
		docRaw = inner
	}
	d := &decoder{}
	rec := &Record{Server: d.server(doc), Meta: parseMeta(item["_meta"])}
	if rec.Server.Name == "" {
		return nil, errors.New("a server document must have a name")
	}
	rec.Server.Raw = bytes.Clone(docRaw)
	rec.Server.Faults = d.faults
	return rec, nil
}

func parseMeta(raw json.RawMessage) Meta {
	m := Meta{Status: Active, Latest: true}
	var all map[string]json.RawMessage
	if raw == nil || json.Unmarshal(raw, &all) != nil {
		return m
	}
	m.Raw = bytes.Clone(raw)
	var o object
	if json.Unmarshal(all[officialMeta], &o) != nil || o == nil {
		return m
	}
	d := &decoder{}
	if s := d.text(o, "", "status"); s != "" {
		m.Status = Status(s)
	}
	m.StatusMessage = d.text(o, "", "statusMessage")
	m.PublishedAt = d.text(o, "", "publishedAt")
	m.UpdatedAt = d.text(o, "", "updatedAt")
	if o.get("isLatest") != nil {
		m.Latest, m.Marked = d.flag(o, "", "isLatest"), true
	}
	return m
}

// object is a JSON object whose member names may be in either spelling.
type object map[string]json.RawMessage

// get returns a member by its camelCase name; null counts as absent.
func (o object) get(name string) json.RawMessage {
	raw, ok := o[name]
	if !ok {
		raw = o[SnakeCase(name)]
	}
	if string(bytes.TrimSpace(raw)) == "null" {
		return nil
	}
	return raw
}

// SnakeCase turns registryBaseUrl into registry_base_url.
func SnakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// decoder reads members one by one, so that one of the wrong kind loses that
// member and not the document.
type decoder struct{ faults []string }

func (d *decoder) fault(path, name, format string, a ...any) {
	d.faults = append(d.faults, strings.TrimPrefix(path+"."+name, ".")+": "+fmt.Sprintf(format, a...))
}

func (d *decoder) server(o object) Server {
	s := Server{
		Schema:      d.text(o, "", "$schema"),
		Name:        d.text(o, "", "name"),
		Version:     d.text(o, "", "version"),
		Title:       d.text(o, "", "title"),
		Description: d.text(o, "", "description"),
		WebsiteURL:  d.text(o, "", "websiteUrl"),
	}
	if s.Version == "" {
		// Before 2025-09 the version was in an object of its own.
		s.Version = d.text(d.object(o, "", "versionDetail"), "", "version")
	}
	if r := d.object(o, "", "repository"); r != nil {
		s.Repository = Repository{
			URL: d.text(r, "repository", "url"), Source: d.text(r, "repository", "source"),
			ID: d.text(r, "repository", "id"), Subfolder: d.text(r, "repository", "subfolder"),
		}
	}
	for i, raw := range d.list(o, "", "packages") {
		path := "packages[" + strconv.Itoa(i) + "]"
		var pkg Package // appended even if empty: the following ones keep their indexes
		if p := d.elem(raw, path); p != nil {
			pkg = d.pkg(p, path)
		}
		s.Packages = append(s.Packages, pkg)
	}
	for i, raw := range d.list(o, "", "remotes") {
		path := "remotes[" + strconv.Itoa(i) + "]"
		var remote Remote
		if r := d.elem(raw, path); r != nil {
			remote = d.remote(r, path)
		}
		s.Remotes = append(s.Remotes, remote)
	}
	return s
}

func (d *decoder) pkg(o object, path string) Package {
	p := Package{
		RegistryType:         d.text(o, path, "registryType"),
		RegistryBaseURL:      d.text(o, path, "registryBaseUrl"),
		Identifier:           d.text(o, path, "identifier"),
		Version:              d.text(o, path, "version"),
		FileSHA256:           d.text(o, path, "fileSha256"),
		RuntimeHint:          d.text(o, path, "runtimeHint"),
		RuntimeArguments:     d.arguments(o, path, "runtimeArguments"),
		PackageArguments:     d.arguments(o, path, "packageArguments"),
		EnvironmentVariables: d.keyValues(o, path, "environmentVariables"),
	}
	if p.RegistryType == "" {
		p.RegistryType = d.text(o, path, "registryName") // mid-2025
	}
	if p.Identifier == "" {
		p.Identifier = d.text(o, path, "name") // mid-2025
	}
	if t := d.object(o, path, "transport"); t != nil {
		p.Transport = d.remote(t, path+".transport")
	}
	return p
}

func (d *decoder) remote(o object, path string) Remote {
	r := Remote{
		Type: d.text(o, path, "type"), URL: d.text(o, path, "url"),
		Headers: d.keyValues(o, path, "headers"), Variables: d.variables(o, path),
	}
	if r.Type == "" {
		r.Type = d.text(o, path, "transportType") // mid-2025
	}
	return r
}

func (d *decoder) arguments(o object, path, name string) []Argument {
	var out []Argument
	for i, raw := range d.list(o, path, name) {
		at := path + "." + name + "[" + strconv.Itoa(i) + "]"
		if s, ok := scalar(raw); ok {
			// Seen in the wild: a bare string in place of an object.
			d.faults = append(d.faults, at+": a bare text, read as a fixed positional argument")
			out = append(out, Argument{Input: Input{Value: &s}})
			continue
		}
		a := d.elem(raw, at)
		if a == nil {
			continue
		}
		arg := Argument{
			Input: d.input(a, at), Name: d.text(a, at, "name"),
			ValueHint: d.text(a, at, "valueHint"), Repeated: d.flag(a, at, "isRepeated"),
		}
		switch kind := d.text(a, at, "type"); kind {
		case "named":
			arg.Named = true
		case "positional":
		default:
			arg.Named = arg.Name != ""
			d.fault(at, "type", "%q is neither named nor positional", kind)
		}
		if arg.Named && arg.Name == "" {
			d.fault(at, "name", "missing; the argument is left out")
			continue
		}
		out = append(out, arg)
	}
	return out
}

func (d *decoder) keyValues(o object, path, name string) []KeyValueInput {
	var out []KeyValueInput
	for i, raw := range d.list(o, path, name) {
		at := path + "." + name + "[" + strconv.Itoa(i) + "]"
		if e := d.elem(raw, at); e != nil {
			out = append(out, KeyValueInput{Name: d.text(e, at, "name"), Input: d.input(e, at)})
		}
	}
	return out
}

func (d *decoder) input(o object, path string) Input {
	in := Input{
		Description: d.text(o, path, "description"),
		Required:    d.flag(o, path, "isRequired"),
		Secret:      d.flag(o, path, "isSecret"),
		Format:      d.text(o, path, "format"),
		Value:       d.optional(o, path, "value"),
		Default:     d.optional(o, path, "default"),
		Placeholder: d.text(o, path, "placeholder"),
		Variables:   d.variables(o, path),
	}
	for i, raw := range d.list(o, path, "choices") {
		if s, ok := scalar(raw); ok {
			in.Choices = append(in.Choices, s)
		} else {
			d.fault(path, "choices["+strconv.Itoa(i)+"]", "not a text; ignored")
		}
	}
	return in
}

// variables reads the member variables, an object of inputs, in its own order.
func (d *decoder) variables(o object, path string) []KeyValueInput {
	raw := o.get("variables")
	if raw == nil {
		return nil
	}
	members := d.object(o, path, "variables")
	if members == nil {
		return nil
	}
	var out []KeyValueInput
	for _, name := range keysInOrder(raw) {
		at := path + ".variables." + name
		if v := d.elem(members[name], at); v != nil {
			out = append(out, KeyValueInput{Name: name, Input: d.input(v, at)})
		}
	}
	return out
}

// keysInOrder returns the member names of a valid object, each once.
func keysInOrder(raw json.RawMessage) []string {
	var names []string
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return names
		}
		name, ok := t.(string)
		if !ok {
			return names
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			return names
		}
	}
	return names
}

// text reads a member that must be a string; numbers and booleans are taken as
// written.
func (d *decoder) text(o object, path, name string) string {
	if s := d.optional(o, path, name); s != nil {
		return *s
	}
	return ""
}

func (d *decoder) optional(o object, path, name string) *string {
	raw := o.get(name)
	if raw == nil {
		return nil
	}
	s, ok := scalar(raw)
	if !ok {
		d.fault(path, name, "not a text; ignored")
		return nil
	}
	return &s
}

func scalar(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "", false
	}
	switch raw[0] {
	case '"':
		var s string
		return s, json.Unmarshal(raw, &s) == nil
	case '{', '[', 'n':
		return "", false
	}
	return string(raw), true
}

func (d *decoder) flag(o object, path, name string) bool {
	raw := o.get(name)
	if raw == nil {
		return false
	}
	s, ok := scalar(raw)
	b, err := strconv.ParseBool(s)
	if !ok || err != nil {
		d.fault(path, name, "not a boolean; ignored")
		return false
	}
	return b
}

func (d *decoder) object(o object, path, name string) object {
	return member[object](d, o, path, name, "an object")
}

func (d *decoder) list(o object, path, name string) []json.RawMessage {
	return member[[]json.RawMessage](d, o, path, name, "a list")
}

// member reads a member of a kind, zero if it is absent or another.
func member[T any](d *decoder, o object, path, name, kind string) T {
	var out, none T
	if raw := o.get(name); raw != nil && json.Unmarshal(raw, &out) != nil {
		d.fault(path, name, "not %s; ignored", kind)
		return none
	}
	return out
}

// elem reads one element of a list that must be an object.
func (d *decoder) elem(raw json.RawMessage, path string) object {
	var out object
	if json.Unmarshal(raw, &out) != nil || out == nil {
		d.faults = append(d.faults, path+": not an object; ignored")
		return nil
	}
	return out
}
