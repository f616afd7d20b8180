package hosts

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// program is the command that hosts start where they cannot do what an entry says.
const program = "mcpctl"

// Self is how a host starts mcpctl.
type Self struct {
	// Command is the program, Args are words before those of the command.
	Command string
	Args    []string
}

// Exported is an entry in a host's form.
type Exported struct {
	Raw json.RawMessage
	// Through is why the host starts mcpctl, which starts or reaches the server; "" where
	// the host does that itself.
	Through string
	// Skip is why the entry cannot be written, "" if it can.
	Skip string
}

// Export translates an entry of servers.json. Where the host cannot do what the entry says,
// or its file would get a secret, the host starts self instead.
func (h *Host) Export(e config.Entry, self Self) Exported {
	if e.Fault != nil {
		return Exported{Skip: e.Fault.Message}
	}
	if e.Disabled && h.dialect().keys.enabled == "" && h.dialect().keys.disabled == "" {
		return Exported{Skip: "it is disabled, and " + h.Title + " cannot have it so"}
	}
	why := h.why(e)
	if why == "" {
		raw, ok := h.direct(e)
		if ok {
			return Exported{Raw: raw}
		}
		why = h.Title + " cannot have one like it"
		if name := unexpanded(e); name != "" {
			why = h.Title + " does not replace ${" + name + "} there"
		}
	}
	var out members
	command := "bridge"
	if e.Transport() == config.TransportStdio && e.ToolFilter.IsZero() {
		command = "run" // which passes everything on
	}
	through := config.Entry{Name: e.Name, Command: config.Escape(self.Command), Disabled: e.Disabled}
	for _, word := range append(slices.Clip(self.Args), command, e.Name) {
		through.Args = append(through.Args, config.Escape(word))
	}
	h.dialect().write(&out, through)
	return Exported{Raw: out.raw(), Through: why}
}

// why says why a host cannot do itself what an entry says, "" if it can.
func (h *Host) why(e config.Entry) string {
	d := h.dialect()
	remote := e.URL != ""
	switch {
	case e.CLI:
		return "it is a command-line tool"
	case remote && d.keys.url == "":
		return h.Title + " has no remote servers in its file"
	case remote && e.Type == config.TransportSSE && d.keys.sse == "" && d.types[config.TransportSSE] == "":
		return h.Title + " has no servers with HTTP+SSE"
	case len(e.Auth) > 0:
		return "mcpctl logs in"
	case e.PerPrincipal():
		return "its credentials are those of each principal of mcpctl serve"
	case e.Cwd != "" && d.keys.cwd == "":
		return h.Title + " has no cwd"
	case !d.limits(e.ToolFilter):
		return h.Title + " cannot have its tools limited so"
	case e.MissingEnv != "" && e.MissingEnv != config.MissingError:
		return "of its missingEnv"
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		if config.LooksSecret(name, e.Env[name]) {
			return "env." + name + " looks like a secret"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		if config.LooksSecret(name, e.Headers[name]) {
			return "headers." + name + " looks like a secret"
		}
	}
	if name := unexpanded(e); name != "" && d.syntax.write == nil && d.special.write == nil {
		return h.Title + " does not replace ${" + name + "}"
	}
	return ""
}

// unexpanded returns the first variable of an entry, "" for none.
func unexpanded(e config.Entry) string {
	texts := append([]string{e.Command, e.Cwd, e.URL}, e.Args...)
	texts = append(append(texts, slices.Collect(maps.Values(e.Env))...), slices.Collect(maps.Values(e.Headers))...)
	for _, text := range texts {
		if names, _ := config.Variables(text); len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// direct writes an entry in the host's form. It is read back: ok is false if that is
// another server, for instance because a text means something else to the host.
func (h *Host) direct(e config.Entry) (json.RawMessage, bool) {
	var out members
	if !h.dialect().write(&out, e) {
		return nil, false
	}
	raw := out.raw()
	back := h.importEntry(raw, "")
	if back.Skip != "" || len(back.Notes)+len(back.Lost) > 0 {
		return nil, false
	}
	return raw, bytes.Equal(essence(back.Entry), essence(e.Raw))
}

// essence returns what of an entry says which server it is and how it is reached, in a
// form that can be compared.
func essence(raw json.RawMessage) []byte {
	doc, err := jsonedit.Parse(raw)
	if err != nil {
		return nil
	}
	out := map[string]any{}
	for _, name := range []string{"command", "args", "env", "cwd", "url", "headers", "auth", "tools", "disabled"} {
		var value any
		switch plain := doc.Value(name); string(plain) {
		case "", "[]", "{}", "false", `""`:
		default:
			_ = json.Unmarshal(plain, &value)
			out[name] = canonical(value)
		}
	}
	if string(doc.Value("type")) == `"sse"` {
		out["type"] = "sse"
	}
	text, _ := json.Marshal(out)
	return text
}

// canonical writes the placeholders of texts in one form.
func canonical(v any) any {
	switch v := v.(type) {
	case string:
		return config.Parts(v)
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = canonical(v[name])
		}
	}
	return v
}

// write writes the members of an entry. It returns false where a text has no form.
func (d dialect) write(out *members, e config.Entry) bool {
	w := &outgoing{d: d, ok: true}
	kind := e.Transport()
	for _, name := range slices.Sorted(maps.Keys(d.always)) {
		out.set(name, d.always[name])
	}
	if d.types != nil {
		out.set("type", d.types[kind])
	}
	if kind == config.TransportStdio {
		args := w.texts("args", e.Args)
		if d.keys.args == "" {
			out.set(d.keys.command, append([]string{w.text("command", e.Command)}, args...))
		} else {
			out.set(d.keys.command, w.text("command", e.Command))
			out.set(d.keys.args, args)
		}
		out.set(d.keys.env, w.pairs("env", e.Env))
		out.set(d.keys.cwd, w.text("cwd", e.Cwd))
	} else {
		address := d.keys.url
		if e.Type == config.TransportSSE && d.keys.sse != "" {
			address = d.keys.sse
		}
		out.set(address, w.text("url", e.URL))
		out.set(d.keys.headers, w.pairs("headers", e.Headers))
	}
	if d.keys.requestTimeout != "" && e.RequestTimeout > 0 {
		unit := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second}[d.timeoutUnit]
		out.set(d.keys.requestTimeout, json.RawMessage(strconv.FormatInt(int64((e.RequestTimeout+unit-1)/unit), 10)))
	}
	if e.ToolFilter.Allow != nil {
		out.set(d.keys.allowTools, e.ToolFilter.Allow)
	}
	out.set(d.keys.denyTools, e.ToolFilter.Deny)
	switch {
	case d.keys.enabled != "":
		out.set(d.keys.enabled, !e.Disabled)
	case e.Disabled:
		out.set(d.keys.disabled, true)
	}
	if d.special.write != nil {
		d.special.write(out, e)
		return true // it has put the placeholders elsewhere; direct reads the result back
	}
	return w.ok
}

// outgoing writes texts with the host's placeholders.
type outgoing struct {
	d  dialect
	ok bool
}

func (w *outgoing) text(name, text string) string {
	s := w.d.syntax
	if w.d.expands != nil && !slices.Contains(w.d.expands, name) {
		s = syntax{}
	}
	out, ok := s.format(text)
	if !ok {
		w.ok = false
		return text
	}
	return out
}

func (w *outgoing) texts(name string, texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = w.text(name, text)
	}
	return out
}

func (w *outgoing) pairs(name string, m map[string]string) pairs {
	var out pairs
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, pair{key, w.text(name, m[key])})
	}
	return out
}

// Plain returns an entry of a host as servers.json has it, without a project.
func (h *Host) Plain(raw json.RawMessage) json.RawMessage { return h.importEntry(raw, "").Entry }

// Gateway returns the entry of one gateway for all servers, which the host starts.
func (h *Host) Gateway(name string, self Self) json.RawMessage {
	var out members
	h.dialect().write(&out, config.Entry{Name: name, Command: config.Escape(self.Command), Args: append(slices.Clip(self.Args), "serve")})
	return out.raw()
}
