package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/viper"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// ValueError is a flag or environment variable with an invalid value.
type ValueError struct {
	// Source is the flag, such as "--color", or the variable.
	Source string
	// Message completes the sentence.
	Message string
}

// Error names the flag or variable and what is wrong.
func (e *ValueError) Error() string { return e.Source + " " + e.Message }

// ExitKind is "usage".
func (*ValueError) ExitKind() string { return "usage" }

// Variable returns the environment variable of a flag.
func Variable(flag string) string {
	return "MCPCTL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// source finds the value of a setting.
type source struct {
	o    Options
	file *file  // nil without one
	raw  []byte // of the file
}

func quote(s string) string { return strconv.Quote(s) }

// flag returns a flag's text, "" if not set.
func (src *source) flag(name string) string {
	if !src.changed(name) {
		return ""
	}
	return src.o.Flags.Lookup(name).Value.String()
}

func (src *source) changed(name string) bool {
	if src.o.Flags == nil {
		return false
	}
	f := src.o.Flags.Lookup(name)
	return f != nil && f.Changed
}

// forced reports whether a flag or its variable is set.
func (src *source) forced(name string) bool {
	return src.changed(name) || src.o.Getenv(Variable(name)) != ""
}

// configPath returns the path of servers.json.
func (src *source) configPath() (string, error) {
	if src.changed("config") {
		if p := src.flag("config"); p != "" {
			return p, nil
		}
		return "", &ValueError{Source: "--config", Message: "is empty"}
	}
	return config.Path(src.o.Getenv)
}

// resolve finds and checks the value of one setting, and puts it into viper. Flags
// and variables override the file.
func (src *source) resolve(v *viper.Viper, k key) error {
	v.SetDefault(k.name, k.def)
	value, from, forced := src.override(k)
	inFile := !forced && src.file.has(k.name)
	switch {
	case inFile:
		// The text as written: YAML takes an unquoted revision for a date.
		value = src.file.text(k.name)
	case !forced:
		value = v.GetString(k.name)
	}
	parsed, err := k.parse(value)
	if err != nil && k.name == "registry" {
		value = displayRegistries(value) // for the message
	}
	switch {
	case err == nil:
	case forced:
		return &ValueError{Source: from, Message: "is " + quote(value) + ", " + err.Error()}
	case inFile:
		return src.file.problem(k.name, k.name+" is "+quote(value)+", "+err.Error())
	default:
		return fmt.Errorf("settings: the default of %s: %w", k.name, err)
	}
	if forced && k.not != "" {
		parsed = parsed != true
	}
	v.Set(k.name, parsed)
	return nil
}

// means reports whether a flag is that of a setting. One that takes no value can be another:
// the command config trust has a --list.
func (src *source) means(flag string, k key) bool {
	_, boolean := k.def.(bool)
	return boolean || src.o.Flags.Lookup(flag).Value.Type() != "bool"
}

// override returns the value of a setting's flag or variable, and its name.
func (src *source) override(k key) (value, name string, ok bool) {
	for _, flag := range []string{k.flag, k.not} {
		if flag == "" || !src.changed(flag) || !src.means(flag, k) {
			continue
		}
		if words, err := src.o.Flags.GetStringArray(flag); err == nil {
			return strings.Join(words, "\n"), "--" + flag, true
		}
		return src.flag(flag), "--" + flag, true
	}
	// --json and MCPCTL_JSON are synonyms of output.
	if k.name == "output" {
		if src.flag("json") == "true" {
			return "json", "--json", true
		}
		if b, err := boolean(src.o.Getenv(Variable("json"))); err == nil && b == true {
			return "json", Variable("json"), true
		}
	}
	for _, flag := range []string{k.flag, k.not} {
		if flag == "" {
			continue
		}
		if value := src.o.Getenv(Variable(flag)); value != "" {
			return value, Variable(flag), true
		}
	}
	return "", "", false
}

// headers reads -H and MCPCTL_HEADER (one a line). A flag wins over the
// variable, name by name; the last of one name counts.
func (src *source) headers() (map[string]string, error) {
	out := map[string]string{}
	add := func(from, text string) error {
		name, value, err := ParseHeader(text)
		if err != nil {
			return &ValueError{Source: from, Message: err.Error()}
		}
		out[http.CanonicalHeaderKey(name)] = value
		return nil
	}
	for line := range strings.Lines(src.o.Getenv(Variable("header"))) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			if err := add(Variable("header"), line); err != nil {
				return nil, err
			}
		}
	}
	if src.changed("header") {
		// A command may have a --header of another kind.
		words, err := src.o.Flags.GetStringArray("header")
		if err != nil {
			return out, nil
		}
		for _, w := range words {
			if err := add("-H", w); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// roots reads --roots, or MCPCTL_ROOTS where the flag is not given: directories
// in the form of $PATH.
func (src *source) roots() ([]string, error) {
	from, dirs := Variable("roots"), filepath.SplitList(src.o.Getenv(Variable("roots")))
	if src.changed("roots") {
		words, err := src.o.Flags.GetStringArray("roots")
		if err != nil {
			return nil, nil //nolint:nilerr // a command's own flag, of another kind
		}
		if from, dirs = "--roots", words; len(dirs) == 0 {
			dirs = []string{""} // pflag returns no text for an empty one
		}
	}
	var out []string
	for _, dir := range dirs {
		abs, reason := directory("", dir)
		if reason != "" {
			return nil, &ValueError{Source: from, Message: reason}
		}
		out = append(out, abs)
	}
	return out, nil
}

// directory returns the absolute path of a directory that may be relative to
// base, "" for the current one, or why there is none.
func directory(base, dir string) (abs, reason string) {
	if dir == "" {
		return "", "is empty"
	}
	abs = dir
	if base != "" && !filepath.IsAbs(dir) {
		abs = filepath.Join(base, dir)
	}
	abs, err := filepath.Abs(abs)
	if err != nil {
		return "", "is " + quote(dir) + ": " + err.Error()
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "is " + quote(dir) + ", which does not exist"
	case err != nil:
		return "", "is " + quote(dir) + ": " + err.Error()
	case !info.IsDir():
		return "", "is " + quote(dir) + ", which is not a directory"
	}
	return abs, ""
}

// serveRoots sets the roots of config.yaml, relative to its directory, unless the
// flag or its variable names others.
func (src *source) serveRoots(s *Settings) error {
	if len(s.Roots) > 0 {
		s.Serve.Roots = s.Roots
		return nil
	}
	for i, dir := range s.Serve.Roots {
		abs, reason := directory(filepath.Dir(s.ConfigPath), dir)
		if reason != "" {
			return src.file.problem("serve.roots", "serve.roots "+reason)
		}
		s.Serve.Roots[i] = abs
	}
	return nil
}

// ParseHeader parses NAME=VALUE, or NAME: VALUE as in curl; the first of the two
// signs decides. The value is not part of any error.
func ParseHeader(text string) (name, value string, err error) {
	i := strings.IndexAny(text, "=:")
	if i < 0 {
		return "", "", fmt.Errorf("wants NAME=VALUE")
	}
	name, value = text[:i], text[i+1:]
	if text[i] == ':' {
		value = strings.TrimSpace(value)
	}
	for _, r := range name {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) {
			return "", "", fmt.Errorf("has the name %s, which no header can have", quote(name))
		}
	}
	switch {
	case name == "":
		return "", "", fmt.Errorf("has no name before the %q", text[i])
	case strings.ContainsAny(value, "\r\n\x00"):
		return "", "", fmt.Errorf("has a line break in the value of %s", name)
	}
	return name, value, nil
}
