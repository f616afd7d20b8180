package config

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// Expanded is an entry with its placeholders replaced by [Entry.Expand]. Texts that
// may hold a secret are [secret.Text], which is not printed by accident. It is
// immutable.
type Expanded struct {
	// Entry is the entry as written, for its settings and its name.
	Entry Entry

	Command string
	Args    []secret.Text
	Env     map[string]secret.Text
	Cwd     string
	// CLIRoots are where a call of a command-line tool may run.
	CLIRoots []string
	URL      secret.Text
	Headers  map[string]secret.Text
	// Auth is the auth object.
	Auth authconfig.Config

	values []variableValue
	lookup func(string) (string, bool)
}

// Identify writes what tells the connection from another one to w: how the entry is
// reached, and the values of its placeholders. It is for a keyed hash, since some are
// secret.
func (x Expanded) Identify(w io.Writer) {
	fmt.Fprintf(w, "%q", x.Entry.Connection())
	for _, v := range x.values {
		fmt.Fprintf(w, " %q %q %q", v.field, v.name, v.value.Reveal())
	}
}

// String returns the name alone.
func (x Expanded) String() string { return "entry " + x.Entry.Name }

// GoString is String.
func (x Expanded) GoString() string { return x.String() }

// LogValue implements [slog.LogValuer]: the name alone.
func (x Expanded) LogValue() slog.Value { return slog.StringValue(x.String()) }

// Revealed returns the plain texts of [Expanded.Env] or Headers.
func Revealed(m map[string]secret.Text) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for name, text := range m {
		out[name] = text.Reveal()
	}
	return out
}

// Secret is a secret text of an expanded entry.
type Secret struct {
	// Place is the field it is from, such as "headers.Authorization", "env.TOKEN",
	// "args[2]" or "url".
	Place string
	Text  secret.Text
}

// Secrets returns what is secret in the entry, field by field, each text once a
// field:
//
//   - the value of each variable, whatever its name, except in the parts of an entry that
//     say where the server is: command, cwd, cliRoots and the host of the URL. There, and
//     where the value is a default that the file has, its name or form decides
//   - values of headers, whole and without a scheme such as Bearer; of Basic also
//     what is encoded
//   - user information and query values of the URL
//   - env values whose name or form looks secret
//   - args that look so, by their form or by the flag before them
//
// A text is not secret where it equals the value of a variable in [Entry.Public], of one that
// says who works where, such as HOME and PATH, or the working directory.
func (x Expanded) Secrets() []Secret {
	var out []Secret
	public := x.public()
	add := func(place string, texts ...secret.Text) {
		for _, text := range texts {
			one := Secret{place, text}
			if text.IsZero() || public[text.Reveal()] || slices.ContainsFunc(out, func(s Secret) bool { return s.Place == place && s.Text.Equal(text) }) {
				continue
			}
			out = append(out, one)
		}
	}
	args := make([]string, len(x.Args))
	for i, arg := range x.Args {
		args[i] = arg.Reveal()
	}
	for i, at := range secret.InArgs(args, literalOf) {
		if at >= 0 {
			add(argPlace(i), secret.OfCredentials(args[i][at:])...)
		}
		add(argPlace(i), secret.OfURL(args[i])...)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Env)) {
		if value := x.Env[name]; secret.LooksName(name) || secret.LooksText(value.Reveal()) {
			add("env."+name, value)
			add("env."+name, secret.OfURL(value.Reveal())...)
		}
	}
	add("url", secret.OfURL(x.URL.Reveal())...)
	for _, name := range slices.Sorted(maps.Keys(x.Headers)) {
		if !secret.PublicHeader(name) {
			add("headers."+name, secret.OfCredentials(x.Headers[name].Reveal())...)
		}
	}
	add("auth", x.Auth.Secrets()...)
	for _, v := range x.values {
		if x.secretValue(v) {
			add(v.field, v.value)
			add(v.field, secret.OfURL(v.value.Reveal())...)
		}
	}
	return out
}

// Redactor returns a redactor of the entry's secrets.
func (x Expanded) Redactor() *secret.Redactor {
	r := secret.NewRedactor()
	x.Redact(r)
	return r
}

// Redact has r redact the entry's secrets, see [secret.Redactor.Set].
func (x Expanded) Redact(r *secret.Redactor) {
	var texts []secret.Text
	for _, s := range x.Secrets() {
		texts = append(texts, s.Text)
	}
	r.Set(texts, x.public())
}

// secretValue reports whether the value of a variable is secret: by where it comes from, or
// by its name and form.
func (x Expanded) secretValue(v variableValue) bool {
	value := v.value.Reveal()
	looks := secret.LooksName(v.name) || secret.LooksText(value)
	place, name, _ := strings.Cut(v.field, ".")
	switch {
	case slices.Contains(publicVariables(), v.name):
		return false
	case place == "headers":
		return !secret.PublicHeader(name)
	case place == "url":
		// Where the server is; the other parts of a URL are examined as one.
		return !strings.Contains(value, "://") && !strings.Contains(hostOf(DisplayURL(x.URL.Reveal())), value)
	case place == "command", place == "cwd", strings.HasPrefix(place, "cliRoots"):
		return looks
	case isAuthPlace(v.field):
		return secret.LooksText(value) // the variable has a name such as TOKEN_URL
	}
	return v.set || looks
}

// hostOf returns scheme and host of a URL.
func hostOf(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// publicVariables are those of the environment that say who works where, in which language
// and on which terminal: their values are in many messages.
func publicVariables() []string {
	return []string{
		"HOME", "USER", "LOGNAME", "USERNAME", "USERPROFILE", "PATH", "PWD", "TMPDIR", "TEMP", "TMP",
		"SHELL", "TERM", "LANG", "TZ",
	}
}

// public returns texts that are common in messages and not secret.
func (x Expanded) public() map[string]bool {
	out := map[string]bool{x.Cwd: true}
	for _, dir := range x.CLIRoots {
		out[dir] = true
	}
	if dir, err := os.Getwd(); err == nil {
		out[dir] = true
	}
	for _, v := range x.values {
		if slices.Contains(x.Entry.Public, v.name) {
			out[v.value.Reveal()] = true
		}
	}
	for _, name := range publicVariables() {
		for _, lookup := range []func(string) (string, bool){x.lookup, os.LookupEnv} {
			if value, ok := lookup(name); ok {
				out[value] = true
			}
		}
	}
	return out
}
