package upgrade

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// values reads off the entry what its user has filled in: texts in place of placeholders,
// and environment variables that add did not write.
func (u *upgrading) values(bare *scaffold.Plan) scaffold.Options {
	var o scaffold.Options
	var e struct {
		URL          string
		Args         []string
		Env, Headers map[string]string
	}
	if json.Unmarshal(bare.Entry, &e) != nil {
		return o
	}
	for _, name := range slices.Sorted(maps.Keys(u.entry.Env)) {
		if text := u.entry.Env[name]; text != e.Env[name] || !has(e.Env, name) {
			o.Env = append(o.Env, scaffold.InputValue{Name: name, Value: text})
		}
	}
	take := func(template, text string) {
		if r, value, ok := filled(bare.Required, template, text); ok && r.Kind != scaffold.KindEnv {
			if r.Secret {
				u.filled = append(u.filled, value)
			}
			addValues(&o, given(r, value))
		}
	}
	take(e.URL, u.entry.URL)
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		take(e.Headers[name], u.entry.Headers[name])
	}
	for _, h := range Hunks(e.Args, u.entry.Args) {
		if h.End-h.Start == len(h.New) {
			for i, text := range h.New {
				take(e.Args[h.Start+i], text)
			}
		}
	}
	return o
}

// filled returns the requirement whose placeholder has a value in a text, and the value.
func filled(required []scaffold.Requirement, template, text string) (r scaffold.Requirement, value string, ok bool) {
	name, value, ok := fill(template, text)
	if !ok || value == "" || value == "${"+name+"}" {
		return r, "", false
	}
	i := slices.IndexFunc(required, func(r scaffold.Requirement) bool { return r.Name == name })
	if i < 0 {
		return r, "", false
	}
	return required[i], value, true
}

// given returns a value of an input as an option.
func given(r scaffold.Requirement, value string) (o scaffold.Options) {
	g := []scaffold.InputValue{{Name: r.Input, Value: value}}
	switch r.Kind {
	case scaffold.KindEnv:
		o.Env = g
	case scaffold.KindArg:
		o.Args = g
	case scaffold.KindVar:
		o.Vars = g
	case scaffold.KindHeader:
		o.Headers = g
	}
	return o
}

// addValues adds values to options; of two for one input the first counts.
func addValues(to *scaffold.Options, from scaffold.Options) {
	add := func(to *[]scaffold.InputValue, from []scaffold.InputValue) {
		for _, g := range from {
			if !slices.ContainsFunc(*to, func(o scaffold.InputValue) bool { return o.Name == g.Name }) {
				*to = append(slices.Clip(*to), g)
			}
		}
	}
	add(&to.Env, from.Env)
	add(&to.Args, from.Args)
	add(&to.Vars, from.Vars)
	add(&to.Headers, from.Headers)
}

func has(m map[string]string, name string) bool { _, ok := m[name]; return ok }

// hidden are the names of secret inputs.
type hidden struct{ env, headers []string }

// add adds the secret inputs of what is picked of a record.
func (h *hidden) add(s *registry.Server, p pick) {
	var env, headers []registry.KeyValueInput
	if pkg := p.packageOf(s); pkg != nil {
		env, headers = pkg.EnvironmentVariables, pkg.Transport.Headers
	} else {
		headers = s.Remotes[p.remote-1].Headers
	}
	isSecret := func(in registry.KeyValueInput) bool {
		return in.Secret || slices.ContainsFunc(in.Variables, func(v registry.KeyValueInput) bool { return v.Secret })
	}
	for _, in := range env {
		if isSecret(in) {
			h.env = append(h.env, in.Name)
		}
	}
	for _, in := range headers {
		if isSecret(in) {
			h.headers = append(h.headers, in.Name)
		}
	}
}

// secrets returns the texts of the entry that are values of secret inputs.
func (u *upgrading) secrets() []string {
	out := slices.Clone(u.filled)
	add := func(text string) {
		names, _ := config.Variables(text)
		if len(names) == 0 && text != "" {
			out = append(out, text)
		}
	}
	for _, name := range u.hidden.env {
		add(u.entry.Env[name])
	}
	for name, text := range u.entry.Headers {
		if slices.ContainsFunc(u.hidden.headers, func(h string) bool { return strings.EqualFold(h, name) }) {
			add(text[secret.AfterScheme(text):])
		}
	}
	return out
}

// Mask returns JSON of an entry, or a part of one, for display: without values of secret
// inputs, and without what looks secret.
func (u *Upgrade) Mask(raw json.RawMessage) json.RawMessage {
	for _, s := range u.secrets {
		whole := encode(s)
		raw = bytes.ReplaceAll(raw, whole, encode(secret.Redacted))
		if inner := whole[1 : len(whole)-1]; len(s) >= 4 {
			raw = bytes.ReplaceAll(raw, inner, []byte(secret.Redacted))
		}
	}
	return config.MaskEntry(raw)
}

// visit calls f for each text in a value, with the names and numbers that lead to it.
func visit(raw json.RawMessage, path string, f func(path, text string)) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		visitValue(v, path, f)
	}
}

func visitValue(v any, path string, f func(path, text string)) {
	switch v := v.(type) {
	case string:
		f(path, v)
	case []any:
		for _, e := range v {
			visitValue(e, path+"/", f)
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			visitValue(v[name], path+"/"+strconv.Quote(name), f)
		}
	}
}
