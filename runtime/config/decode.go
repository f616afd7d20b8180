package config

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/revision"
)

// decoder reads one entry from its syntax tree.
type decoder struct {
	doc      *document
	server   string
	faults   []Problem
	warnings []Problem
}

// key is one member that an entry may have.
type key struct {
	name string
	set  func(d *decoder, e *Entry, at string, v hujson.Value)
}

// keys are all members of an entry; schemas/servers.schema.json has the same.
func keys() []key {
	return []key{
		{"command", text(func(e *Entry) *string { return &e.Command })},
		{"args", texts(func(e *Entry) *[]string { return &e.Args })},
		{"env", textMap(func(e *Entry) *map[string]string { return &e.Env })},
		{"cwd", text(func(e *Entry) *string { return &e.Cwd })},
		{"url", text(func(e *Entry) *string { return &e.URL })},
		{"headers", textMap(func(e *Entry) *map[string]string { return &e.Headers })},
		{"auth", func(d *decoder, e *Entry, at string, v hujson.Value) { d.auth(e, at, v) }},
		{"allowInsecureHttp", boolean(func(e *Entry) *bool { return &e.AllowInsecureHTTP })},
		{"type", func(d *decoder, e *Entry, at string, v hujson.Value) { d.typ(e, at, v) }},
		{"disabled", boolean(func(e *Entry) *bool { return &e.Disabled })},
		{"cli", boolean(func(e *Entry) *bool { return &e.CLI })},
		{"cliOnly", texts(func(e *Entry) *[]string { return &e.CLIOnly })},
		{"cliDeny", texts(func(e *Entry) *[]string { return &e.CLIDeny })},
		{"cliDepth", func(d *decoder, e *Entry, at string, v hujson.Value) { d.depth(e, at, v) }},
		{"cliRoots", texts(func(e *Entry) *[]string { return &e.CLIRoots })},
		{"cliArgs", boolean(func(e *Entry) *bool { return &e.CLIArgs })},
		{"cliHelp", text(func(e *Entry) *string { return &e.CLIHelp })},
		{"tools", func(d *decoder, e *Entry, at string, v hujson.Value) { d.tools(e, at, v) }},
		{"missingEnv", choice(func(e *Entry) *string { return &e.MissingEnv }, MissingError, MissingEmpty, MissingLiteral)},
		{"public", func(d *decoder, e *Entry, at string, v hujson.Value) { d.public(e, at, v) }},
		{"connectTimeout", duration(func(e *Entry) *time.Duration { return &e.ConnectTimeout })},
		{"requestTimeout", duration(func(e *Entry) *time.Duration { return &e.RequestTimeout })},
		{"probeTimeout", duration(func(e *Entry) *time.Duration { return &e.ProbeTimeout })},
		{"protocolVersion", choice(func(e *Entry) *string { return &e.ProtocolVersion }, revision.Versions()...)},
		{"shutdownTimeout", duration(func(e *Entry) *time.Duration { return &e.ShutdownTimeout })},
		{"start", choice(func(e *Entry) *string { return &e.Start }, "lazy", "eager", "cached")},
		{"idleTimeout", duration(func(e *Entry) *time.Duration { return &e.IdleTimeout })},
		{"minIdleTimeout", duration(func(e *Entry) *time.Duration { return &e.MinIdleTimeout })},
		{"maxIdleTimeout", duration(func(e *Entry) *time.Duration { return &e.MaxIdleTimeout })},
		{"isolation", choice(func(e *Entry) *string { return &e.Isolation }, "auto", "shared", "principal", "session")},
		{"maxPrincipals", size(func(e *Entry) *int { return &e.MaxPrincipals }, 1, 10_000)},
		{"requestIdFormat", choice(func(e *Entry) *string { return &e.RequestIDFormat }, "number", "string")},
		{"wrapUris", boolean(func(e *Entry) *bool { return &e.WrapURIs })},
		{"noServerStream", boolean(func(e *Entry) *bool { return &e.NoServerStream })},
		{"maxMessageBytes", size(func(e *Entry) *int { return &e.MaxMessageBytes }, MinMessage, MaxMessage)},
		{"strict", boolean(func(e *Entry) *bool { return &e.Strict })},
		{"pin", choice(func(e *Entry) *string { return &e.Pin }, "off", "warn", "hold")},
		{"labels", func(d *decoder, e *Entry, at string, v hujson.Value) { d.labels(e, at, v) }},
		{"trustAnnotations", boolean(func(e *Entry) *bool { return &e.TrustAnnotations })},
		{"origin", func(d *decoder, e *Entry, at string, v hujson.Value) { d.origin(e, at, v) }},
	}
}

// Keys returns the names of all members that an entry may have.
func Keys() []string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}

// entry decodes one value of mcpServers into the fields that can be read, and
// records faults and warnings.
func (d *decoder) entry(v hujson.Value) Entry {
	e := Entry{Raw: jsonedit.Standard(v)}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		d.fault(v.StartOffset, "the entry is "+describe(v)+", want an object", `as in {"command": "npx", "args": ["-y", "some-server"]}`)
		return e
	}
	all := keys()
	at := map[string]hujson.ObjectMember{}
	for _, m := range obj.Members {
		name := today(jsonedit.Name(&m))
		if _, ok := at[name]; ok {
			d.fault(m.Name.StartOffset, fmt.Sprintf("the key %q is there twice", name), "remove one of the two")
			continue
		}
		at[name] = m
		if i := slices.IndexFunc(all, func(k key) bool { return k.name == name }); i >= 0 {
			all[i].set(d, &e, name, m.Value)
		} else {
			d.warn(m.Name.StartOffset, fmt.Sprintf("unknown key %q, ignored", name), unknownKeyRemedy(name))
		}
	}
	d.shape(&e, v, at)
	return e
}

// unknownKeyRemedy suggests the key that was probably meant, by its spelling or
// because other hosts have it.
func unknownKeyRemedy(name string) string {
	switch name {
	case "serverUrl", "httpUrl", "endpoint", "uri":
		return "did you mean url?"
	case "transport", "transportType":
		return "did you mean type?"
	case "environment", "envs":
		return "did you mean env?"
	case "timeout":
		return "did you mean requestTimeout?"
	case "authorizationToken", "bearerToken":
		return `write it as a header: "headers": {"Authorization": "Bearer ${TOKEN}"}`
	}
	return plain.NearestHint(name, Keys(), "remove it; mcpctl config schema has all keys")
}

// shape checks the members against one another: command or url, and a type
// that agrees.
func (d *decoder) shape(e *Entry, v hujson.Value, at map[string]hujson.ObjectMember) {
	command, hasCommand := at["command"]
	address, hasURL := at["url"]
	switch {
	case hasCommand && hasURL:
		d.fault(max(command.Name.StartOffset, address.Name.StartOffset), `both "command" and "url"`, "keep command for a program started here, url for a remote server")
		return
	case !hasCommand && !hasURL:
		remedy := `write "command" for a program, "url" for a remote server`
		for name := range at {
			if hint := unknownKeyRemedy(name); hint == "did you mean url?" || hint == "did you mean command?" {
				remedy = hint
			}
		}
		d.fault(v.StartOffset, `neither "command" nor "url"`, remedy)
		return
	case hasCommand && e.Command == "" && isString(command.Value):
		d.fault(command.Value.StartOffset, "command is empty", "write the program to start")
	case hasURL && e.URL == "" && isString(address.Value):
		d.fault(address.Value.StartOffset, "url is empty", "as in https://api.example.com/mcp")
	case hasURL && isString(address.Value) && !strings.Contains(e.URL, "$"):
		if reason := urlFault(e.URL); reason != "" {
			d.fault(address.Value.StartOffset, "url: "+reason, "as in https://api.example.com/mcp")
		}
	}
	if hasURL {
		d.address(e.URL, address.Value.StartOffset)
	}
	if typ, ok := at["type"]; ok {
		switch _, url := ParseType(e.Type); {
		case hasURL && e.Type != "" && !url:
			d.fault(typ.Value.StartOffset, fmt.Sprintf(`type %q contradicts "url"`, e.Type), `write "http" or "sse", or leave type out`)
		case hasCommand && url:
			d.fault(typ.Value.StartOffset, fmt.Sprintf(`type %q contradicts "command"`, e.Type), `write "stdio", or leave type out`)
		}
	}
	if low, high := e.MinIdleTimeout, e.MaxIdleTimeout; low > 0 && high > 0 && low > high {
		later := max(at["minIdleTimeout"].Name.StartOffset, at["maxIdleTimeout"].Name.StartOffset)
		d.fault(later, fmt.Sprintf("minIdleTimeout, %v, is above maxIdleTimeout, %v", low, high), "make one of them smaller or larger")
	}
	if hasURL && e.CLI {
		d.fault(at["cli"].Name.StartOffset, `"cli" contradicts "url"`, "only a command can be a command-line tool")
	}
	if m, ok := at["auth"]; ok && hasCommand {
		d.fault(m.Name.StartOffset, `"auth" contradicts "command"`, "only a remote server is logged in to; a program gets credentials by env")
	}
	if m, ok := at["isolation"]; ok && e.Isolation == "shared" && e.PerPrincipal() {
		d.fault(m.Name.StartOffset, `isolation "shared" contradicts credentials of each principal`, "remove isolation: principal is implied")
	}
	if m, ok := at["minIdleTimeout"]; ok && e.IdleTimeout != 0 {
		d.warn(m.Name.StartOffset, `"minIdleTimeout" has no effect with "idleTimeout"`, "remove one of the two")
	}
	idle := []string{"headers", "allowInsecureHttp", "noServerStream"}
	if hasURL {
		idle = slices.Concat([]string{"args", "env", "cwd", "shutdownTimeout", "strict"}, cliKeys())
	} else if !e.CLI {
		idle = append(idle, cliKeys()...)
	}
	for _, name := range idle {
		if m, ok := at[name]; ok {
			if name == "tools" && len(e.Tools) == 0 {
				continue
			}
			kind := map[bool]string{true: "url", false: "command"}[hasURL]
			if slices.Contains(cliKeys(), name) && !hasURL {
				d.warn(m.Name.StartOffset, fmt.Sprintf(`%q has no effect without "cli": true`, name), `remove it, or add "cli": true`)
				continue
			}
			d.warn(m.Name.StartOffset, fmt.Sprintf("%q has no effect with %q", name, kind), "remove it")
		}
	}
}

func (d *decoder) fault(offset int, message, remedy string) {
	d.faults = append(d.faults, *d.doc.problemAt(offset, d.server, message, remedy))
}

func (d *decoder) warn(offset int, message, remedy string) {
	d.warnings = append(d.warnings, *d.doc.problemAt(offset, d.server, message, remedy))
}

// wrong reports a value of the wrong type.
func (d *decoder) wrong(v hujson.Value, at, want string) {
	remedy := "mcpctl config schema shows the form"
	if lit, ok := v.Value.(hujson.Literal); ok && strings.HasPrefix(want, "a string") && lit.Kind() != 'n' {
		remedy = "write " + strconv.Quote(string(lit))
	}
	if lit, ok := v.Value.(hujson.Literal); ok && want == "true or false" && (lit.String() == "true" || lit.String() == "false") {
		remedy = "write " + lit.String() + " without quotes"
	}
	if isString(v) && strings.HasPrefix(want, "an array") {
		remedy = "write [" + string(v.Value.(hujson.Literal)) + "]"
	}
	d.fault(v.StartOffset, at+" is "+describe(v)+", want "+want, remedy)
}

func (d *decoder) text(at string, v hujson.Value) (string, bool) {
	if !isString(v) {
		d.wrong(v, at, "a string")
		return "", false
	}
	s := v.Value.(hujson.Literal).String()
	if strings.ContainsRune(s, 0) {
		d.fault(v.StartOffset, at+" contains a NUL character", "remove it")
	}
	d.principals(at, v, s)
	d.foreignPlaceholders(at, v, s)
	if name, ok := BareVariable(s); ok {
		d.warn(v.StartOffset, at+" has $"+name+", which is not a placeholder and stays as it is", "write ${"+name+"} for the variable, $$"+name+" for the text")
	}
	return s, true
}

// foreignPlaceholders warns of a ${…} that is not expanded.
func (d *decoder) foreignPlaceholders(at string, v hujson.Value, s string) {
	for i := 0; i+1 < len(s); i++ {
		switch {
		case s[i] != '$':
		case s[i+1] == '$':
			i++
		case s[i+1] == '{':
			if p, ok := parsePlaceholder(s[i:]); ok {
				i += p.size - 1
				continue
			}
			if _, size, ok := principalPlaceholder(s[i:]); ok {
				i += size - 1
				continue
			}
			remedy := "${VAR} is the form; $$ is a dollar"
			if name, ok := strings.CutPrefix(s[i:], "${env:"); ok {
				if end := strings.IndexByte(name, '}'); end > 0 {
					remedy = "write ${" + name[:end] + "}"
				}
			}
			d.warn(v.StartOffset, at+" holds a placeholder that is not understood and stays as it is", remedy)
			return
		}
	}
}

func text(field func(*Entry) *string) func(*decoder, *Entry, string, hujson.Value) {
	return func(d *decoder, e *Entry, at string, v hujson.Value) {
		if s, ok := d.text(at, v); ok {
			*field(e) = s
		}
	}
}

func texts(field func(*Entry) *[]string) func(*decoder, *Entry, string, hujson.Value) {
	return func(d *decoder, e *Entry, at string, v hujson.Value) {
		arr, ok := v.Value.(*hujson.Array)
		if !ok {
			d.wrong(v, at, "an array of strings")
			return
		}
		out := make([]string, 0, len(arr.Elements))
		for i, el := range arr.Elements {
			if s, ok := d.text(fmt.Sprintf("%s[%d]", at, i), el); ok {
				out = append(out, s)
			}
		}
		*field(e) = out
	}
}

var labelForm = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,63}$`) // labels stand in a line, with spaces between them

func (d *decoder) labels(e *Entry, at string, v hujson.Value) {
	texts(func(e *Entry) *[]string { return &e.Labels })(d, e, at, v)
	for i, word := range e.Labels {
		switch {
		case !labelForm().MatchString(word):
			d.fault(v.StartOffset, fmt.Sprintf("%s: %q is no label, want 1 to 64 of a-z, 0-9, '.', '_' and '-'", at, word), `as in "labels": ["private"]`)
		case slices.Contains(e.Labels[:i], word):
			d.fault(v.StartOffset, fmt.Sprintf("%s has %q twice", at, word), "remove one of the two")
		}
	}
}

var variableForm = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (d *decoder) public(e *Entry, at string, v hujson.Value) {
	texts(func(e *Entry) *[]string { return &e.Public })(d, e, at, v)
	for i, name := range e.Public {
		switch {
		case !variableForm().MatchString(name):
			d.fault(v.StartOffset, fmt.Sprintf("%s: %q is no name of a variable", at, name), `write the name alone, as in "public": ["REGION"]`)
		case slices.Contains(e.Public[:i], name):
			d.fault(v.StartOffset, fmt.Sprintf("%s has %q twice", at, name), "remove one of the two")
		}
	}
}

func textMap(field func(*Entry) *map[string]string) func(*decoder, *Entry, string, hujson.Value) {
	return func(d *decoder, e *Entry, at string, v hujson.Value) {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			d.wrong(v, at, "an object of strings")
			return
		}
		out := make(map[string]string, len(obj.Members))
		for _, m := range obj.Members {
			name := jsonedit.Name(&m)
			if _, ok := out[name]; ok {
				d.fault(m.Name.StartOffset, fmt.Sprintf("%s.%s is there twice", at, name), "remove one of the two")
			}
			if reason := nameFault(at, name); reason != "" {
				d.fault(m.Name.StartOffset, fmt.Sprintf("%s: %q %s", at, name, reason), "rename it")
			}
			if at == "headers" {
				d.header(m.Name.StartOffset, name, out)
			}
			if s, ok := d.text(at+"."+name, m.Value); ok {
				out[name] = s
				if at == "headers" && strings.ContainsAny(s, "\r\n") {
					d.fault(m.Value.StartOffset, "headers."+name+" contains a line break", "remove it: a header is one line")
				}
			}
		}
		*field(e) = out
	}
}

// header warns of a header that an entry must not set, and refuses one that is
// already there in another letter case: which of the two is sent would be chance.
func (d *decoder) header(offset int, name string, before map[string]string) {
	for other := range before {
		if other != name && strings.EqualFold(other, name) {
			d.fault(offset, fmt.Sprintf("headers.%s is there twice, as %s", name, other), "remove one of the two: letter case does not count")
		}
	}
	switch reason := origin.OwnHeader(name); {
	case reason == "":
	case strings.EqualFold(name, "Host"):
		d.warn(offset, "headers."+name+" "+reason, "put the host into url, unless that is what you want")
	default:
		d.warn(offset, "headers."+name+" "+reason+", so it is not sent", "remove it")
	}
}

// address warns of a suspicious URL; placeholders count as part of a name.
func (d *decoder) address(text string, offset int) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if p, ok := parsePlaceholder(text[i:]); ok && text[i] == '$' {
			b.WriteByte('x')
			i += p.size - 1
			continue
		}
		b.WriteByte(text[i])
	}
	u, err := url.Parse(b.String())
	if err != nil || u.Host == "" {
		return
	}
	remedy := "write the host as it is, if it is the one you mean"
	if u.User != nil {
		remedy = `a password belongs in "headers", as a placeholder: "Authorization": "Basic ${CREDENTIALS}"`
	}
	for _, fault := range origin.AddressFaults(u) {
		d.warn(offset, "url: "+fault, remedy)
	}
}

// nameFault returns why a name cannot be that of a variable or header (RFC 9110,
// section 5.6.2, token).
func nameFault(at, name string) string {
	if at == "env" {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return "cannot be the name of a variable"
		}
		return ""
	}
	ok := name != ""
	for _, r := range name {
		ok = ok && (alphanumeric(r) || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	}
	if !ok {
		return "cannot be the name of a header"
	}
	return ""
}

func boolean(field func(*Entry) *bool) func(*decoder, *Entry, string, hujson.Value) {
	return func(d *decoder, e *Entry, at string, v hujson.Value) {
		switch v.Value.Kind() {
		case 't', 'f':
			*field(e) = v.Value.(hujson.Literal).Bool()
		default:
			d.wrong(v, at, "true or false")
		}
	}
}

// The bounds of [Entry.MaxMessageBytes]: a handshake has to fit, and an integer of 32
// bits to hold it.
const (
	MinMessage = 64 << 10
	MaxMessage = 1 << 30
)

func size(field func(*Entry) *int, least, most int) func(*decoder, *Entry, string, hujson.Value) {
	return func(d *decoder, e *Entry, at string, v hujson.Value) {
		lit, ok := v.Value.(hujson.Literal)
		n, err := strconv.ParseFloat(string(lit), 64)
		if !ok || err != nil || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
			d.fault(v.StartOffset, fmt.Sprintf("%s: want a whole number from %d to %d", at, least, most), "write a number in that range, without quotes")
			return
		}
		*field(e) = int(n)
	}
}

func choice(field func(*Entry) *string, words ...string) func(*decoder, *Entry, string, hujson.Value) {
	return func(d *decoder, e *Entry, at string, v hujson.Value) {
		if !isString(v) {
			d.fault(v.StartOffset, at+" is "+describe(v)+", want "+strings.Join(words, " or "), "write "+strconv.Quote(words[0]))
			return
		}
		s := v.Value.(hujson.Literal).String()
		if !slices.Contains(words, s) {
			d.fault(v.StartOffset, fmt.Sprintf("%s is %q, want %s", at, s, strings.Join(words, " or ")), plain.NearestHint(s, words, "leave it out for the default"))
			return
		}
		*field(e) = s
	}
}

func duration(field func(*Entry) *time.Duration) func(*decoder, *Entry, string, hujson.Value) {
	return func(d *decoder, e *Entry, at string, v hujson.Value) {
		if !isString(v) {
			remedy := `as in "500ms", "30s", "5m", or "never"`
			if v.Value.Kind() == '0' {
				remedy = fmt.Sprintf(`with its unit: "%ss" or "%sms"`, v.Value.(hujson.Literal), v.Value.(hujson.Literal))
			}
			d.fault(v.StartOffset, at+" is "+describe(v)+`, want a string such as "30s"`, remedy)
			return
		}
		t, err := ParseDuration(v.Value.(hujson.Literal).String())
		if err != nil {
			d.fault(v.StartOffset, at+" is "+err.Error(), `as in "500ms", "30s", "5m", or "never"`)
			return
		}
		*field(e) = t
	}
}

// ParseDuration reads a duration as configuration writes it: "500ms", "30s",
// "1h30m"; "never" and any zero are off, which is -1.
func ParseDuration(s string) (time.Duration, error) {
	if s == "never" {
		return -1, nil
	}
	t, err := time.ParseDuration(s)
	switch {
	case err != nil:
		if _, numErr := strconv.ParseFloat(s, 64); numErr == nil {
			return 0, fmt.Errorf("%q, which has no unit", s)
		}
		return 0, fmt.Errorf("%q, which is not a duration", s)
	case t < 0:
		return 0, fmt.Errorf("%q, which is negative", s)
	case t == 0:
		return -1, nil
	}
	return t, nil
}

func (d *decoder) typ(e *Entry, at string, v hujson.Value) {
	if !isString(v) {
		d.wrong(v, at, "a string")
		return
	}
	s := v.Value.(hujson.Literal).String()
	e.Type, _ = ParseType(s)
	switch {
	case e.Type != "":
	case s == TransportCLI:
		d.fault(v.StartOffset, `type is "cli"`, `write "cli": true in its place`)
	default:
		var names, words []string
		for _, t := range transports {
			names, words = append(names, t.name), append(append(words, t.name), t.aliases...)
		}
		remedy := plain.NearestHint(s, words, "leave it out: the shape decides")
		d.fault(v.StartOffset, fmt.Sprintf("type is %q, want %s", s, plain.JoinOr(names)), remedy)
	}
}

func (d *decoder) origin(e *Entry, at string, v hujson.Value) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		d.wrong(v, at, "an object")
		return
	}
	var o Origin
	fields := map[string]*string{"registry": &o.Registry, "name": &o.Name, "version": &o.Version}
	for _, m := range obj.Members {
		name := jsonedit.Name(&m)
		field, ok := fields[name]
		switch {
		case !ok:
			d.warn(m.Name.StartOffset, fmt.Sprintf("unknown key %q, ignored", at+"."+name), "remove it")
		case !isString(m.Value):
			d.wrong(m.Value, at+"."+name, "a string")
		default:
			*field = m.Value.Value.(hujson.Literal).String()
		}
	}
	e.Origin = &o
}

func isString(v hujson.Value) bool { return v.Value.Kind() == '"' }

// describe returns the type of a value, with its text where that is short.
func describe(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '0':
		return "the number " + string(v.Value.(hujson.Literal))
	case '"':
		return "a string"
	default:
		return string(json.RawMessage(v.Value.(hujson.Literal)))
	}
}
