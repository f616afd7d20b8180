package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// run is one source of each kind.
type run struct {
	flags []string
	env   map[string]string
	file  string // config.yaml, "" for none
	skip  bool
}

func (r run) load(t *testing.T) (settings.Settings, error) {
	t.Helper()
	dir := t.TempDir()
	if r.file != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, settings.FileName), []byte(r.file), 0o600))
	}
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, name := range []string{"config", "output", "timeout", "connect-timeout", "protocol-version", "log-format", "color", "url", "separator", "request-timeout", "stream-max", "list-grace", "elicit"} {
		fs.String(name, "", "")
	}
	for _, name := range []string{"json", "no-input", "quiet", "no-prefix"} {
		fs.Bool(name, false, "")
	}
	fs.CountP("verbose", "v", "")
	fs.StringArrayP("header", "H", nil, "")
	fs.StringArray("registry", nil, "")
	fs.StringArray("roots", nil, "")
	require.NoError(t, fs.Parse(r.flags))
	s, err := settings.Load(settings.Options{Flags: fs, SkipFile: r.skip, Getenv: func(name string) string {
		if name == "MCPCTL_HOME" {
			return dir
		}
		return r.env[name]
	}})
	// The directory is a new one each time.
	s.ConfigPath = strings.TrimPrefix(s.ConfigPath, dir)
	if err != nil {
		err = errors.Join(err) // keep the type, see errors.As
	}
	return s, err
}

func defaults() settings.Settings {
	return settings.Settings{
		ConfigPath: string(filepath.Separator) + "servers.json",
		Registries: at(registry.Official), Output: "auto", LogFormat: "text", Color: "auto", Headers: map[string]string{},
		Tokens: settings.Tokens{Store: "file"}, Serve: settings.Serve{Separator: "__", Prefix: true, NameOverhead: 20, Compression: "auto", List: "all", Budget: 10_000},
	}
}

// at returns the entries of registries at URLs.
func at(urls ...string) (all []config.Entry) {
	for _, url := range urls {
		all = append(all, config.Entry{Name: "registry " + url, URL: url})
	}
	return all
}

func TestSources(t *testing.T) {
	const file = "timeout: 2m\nserve:\n  separator: ___\n  prefix: false\n  nameOverhead: 5\n  requestTimeout: never\n  listGrace: 5s\n  streamMax: 50s\n  list: auto\n  budget: 500\n  search: {native: [a]}\n" +
		"registry: http://file.example/\ncolor: never\nprotocolVersion: 2025-11-25\nnoInput: yes\nverbose: 1\noutput: json\nauth:\n  store: keyring\n"
	fromFile := func(s *settings.Settings) {
		s.Timeout, s.Registries, s.Color, s.ColorSet = 2*time.Minute, at("http://file.example"), "never", true
		s.ProtocolVersion, s.NoInput, s.Verbose, s.Output = "2025-11-25", true, 1, "json"
		s.Tokens.Store = "keyring"
		s.Serve = settings.Serve{Separator: "___", NameOverhead: 5, RequestTimeout: -1, ListGrace: 5 * time.Second, StreamMax: 50 * time.Second, Compression: "auto", List: "auto", Budget: 500, Search: settings.Search{Native: []string{"a"}}}
	}
	for _, tt := range []struct {
		name string
		run  run
		want func(*settings.Settings)
	}{
		{"nothing", run{}, func(*settings.Settings) {}},
		{"empty file", run{file: "# nothing\n"}, func(*settings.Settings) {}},
		{"empty group", run{file: "serve:\n"}, func(*settings.Settings) {}},
		{"file", run{file: file}, fromFile},
		{"file skipped", run{file: file, skip: true}, func(*settings.Settings) {}},
		{"environment over file", run{file: file, env: map[string]string{
			"MCPCTL_TIMEOUT": "1s", "MCPCTL_SEPARATOR": "-", "MCPCTL_NO_PREFIX": "false", "MCPCTL_VERBOSE": "7", "MCPCTL_OUTPUT": "text", "MCPCTL_NO_INPUT": "0",
		}}, func(s *settings.Settings) {
			fromFile(s)
			s.Timeout, s.Verbose, s.Output, s.NoInput, s.Serve.Separator, s.Serve.Prefix = time.Second, 2, "text", false, "-", true
		}},
		{"flags over environment over file", run{
			file: file, env: map[string]string{"MCPCTL_TIMEOUT": "1s", "MCPCTL_COLOR": "auto", "MCPCTL_OUTPUT": "text", "MCPCTL_NO_PREFIX": "false"},
			flags: []string{"--timeout", "0", "--color=always", "--json", "-vv", "--no-prefix", "--protocol-version=auto", "--no-input=false"},
		}, func(s *settings.Settings) {
			fromFile(s)
			s.Timeout, s.Color, s.Output, s.Verbose, s.ProtocolVersion, s.NoInput = -1, "always", "json", 2, "", false
		}},
		{"json by variable", run{env: map[string]string{"MCPCTL_JSON": "1"}}, func(s *settings.Settings) { s.Output = "json" }},
		{"elicit", run{file: "elicit: defaults\n", env: map[string]string{"MCPCTL_ELICIT": `{"n":9007199254740993}`}}, func(s *settings.Settings) {
			s.Elicit = `{"n":9007199254740993}`
		}},
		{"roots", run{env: map[string]string{"MCPCTL_ROOTS": "none" + string(filepath.ListSeparator) + "no"}, flags: []string{"--roots", ".", "--roots", ".."}}, func(s *settings.Settings) {
			s.Roots = []string{absolute("."), absolute("..")}
			s.Serve.Roots = s.Roots
		}},
		{"roots by variable", run{env: map[string]string{"MCPCTL_ROOTS": "." + string(filepath.ListSeparator) + ".."}}, func(s *settings.Settings) {
			s.Roots = []string{absolute("."), absolute("..")}
			s.Serve.Roots = s.Roots
		}},
		{"roots of serve", run{file: "serve:\n  roots: [" + filepath.ToSlash(absolute(".")) + "]\n  streamMax: 10m\n"}, func(s *settings.Settings) {
			s.Serve.Roots, s.Serve.StreamMax = []string{absolute(".")}, 10*time.Minute
		}},
		{"headers", run{
			env:   map[string]string{"MCPCTL_HEADER": "X-A=env\nx-b: env=b\n"},
			flags: []string{"-H", "x-a=flag", "--header", "Authorization: Bearer a=b", "-HX-C=c:d"},
		}, func(s *settings.Settings) {
			s.Headers = map[string]string{"X-A": "flag", "X-B": "env=b", "Authorization": "Bearer a=b", "X-C": "c:d"}
		}},
		{"registries by flag", run{flags: []string{"--registry", "https://a.example/", "--registry", "https://b.example/x"}}, func(s *settings.Settings) {
			s.Registries = at("https://a.example", "https://b.example/x")
		}},
		{"registries by variable", run{env: map[string]string{"MCPCTL_REGISTRY": "https://a.example https://b.example\n"}}, func(s *settings.Settings) {
			s.Registries = at("https://a.example", "https://b.example")
		}},
		{"registries in the file", run{file: "registry:\n- https://a.example\n- url: https://b.example/\n  headers: {Authorization: 'Bearer ${T}'}\n"}, func(s *settings.Settings) {
			s.Registries = at("https://a.example", "https://b.example")
			s.Registries[1].Headers = map[string]string{"Authorization": "Bearer ${T}"}
		}},
		{"a registry in the file", run{file: "registry: {url: 'https://b.example', allowInsecureHttp: true}\n"}, func(s *settings.Settings) {
			s.Registries = at("https://b.example")
			s.Registries[0].AllowInsecureHTTP = true
		}},
		{"config and url", run{flags: []string{"--config", "other.json", "--url", "http://127.0.0.1:1/mcp"}}, func(s *settings.Settings) {
			s.ConfigPath, s.ConfigAlone, s.URL = "other.json", true, "http://127.0.0.1:1/mcp"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.run.load(t)
			require.NoError(t, err)
			want := defaults()
			tt.want(&want)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(settings.Settings{}), cmpopts.IgnoreFields(config.Entry{}, "Raw")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func absolute(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		panic(err)
	}
	return abs
}

func TestWrongValues(t *testing.T) {
	for _, tt := range []struct {
		run  run
		want []string
	}{
		{run{flags: []string{"--color", "blue"}}, []string{"--color", "blue", "always"}},
		{run{flags: []string{"--protocol-version", "2024-01-01"}}, []string{"--protocol-version", "2025-11-25"}},
		{run{flags: []string{"--timeout", "5"}}, []string{"--timeout", `"5"`, "30s"}},
		{run{flags: []string{"--timeout=-5s"}}, []string{"--timeout"}},
		{run{flags: []string{"-o", "xml"}, env: nil}, []string{"--output", "yaml"}},
		{run{flags: []string{"--registry", "example.com"}}, []string{"--registry", "https://"}},
		{run{flags: []string{"--registry", "https://a.example", "--registry", "user:hush@b.example"}}, []string{"--registry", "b.example", "https://"}},
		{run{flags: []string{"--registry", `{"url":"https://a.example","token":"hush"}`}}, []string{"--registry", "{https://a.example…}", "url, headers, auth and allowInsecureHttp"}},
		{run{env: map[string]string{"MCPCTL_REGISTRY": `{"url":"https://a.example","auth":{"grant":"hush"}}`}}, []string{"MCPCTL_REGISTRY", "grant"}},
		{run{env: map[string]string{"MCPCTL_REGISTRY": " "}}, []string{"MCPCTL_REGISTRY", "want a URL"}},
		{run{flags: []string{"--separator", "a b"}}, []string{"--separator"}},
		{run{flags: []string{"--url", "ftp://x"}}, []string{"--url"}},
		{run{flags: []string{"--config="}}, []string{"--config"}},
		{run{flags: []string{"-H", "novalue"}}, []string{"-H", "NAME=VALUE"}},
		{run{flags: []string{"-H", "bad name=x"}}, []string{"-H", "bad name"}},
		{run{flags: []string{"-H", "A=x\r\nB: y"}}, []string{"line break"}},
		{run{flags: []string{"--elicit", "maybe"}}, []string{"--elicit", "maybe", "JSON object"}},
		{run{flags: []string{"--elicit", "[1]"}}, []string{"--elicit", "JSON object"}},
		{run{flags: []string{"--elicit", `{"a":}`}}, []string{"--elicit", "JSON object"}},
		{run{flags: []string{"--roots", "no-such-directory"}}, []string{"--roots", "no-such-directory", "does not exist"}},
		{run{flags: []string{"--roots", "settings.go"}}, []string{"--roots", "not a directory"}},
		{run{flags: []string{"--roots="}}, []string{"--roots", "empty"}},
		{run{env: map[string]string{"MCPCTL_ROOTS": "no-such-directory"}}, []string{"MCPCTL_ROOTS", "does not exist"}},
		{run{env: map[string]string{"MCPCTL_TIMEOUT": "soon"}}, []string{"MCPCTL_TIMEOUT", "soon"}},
		{run{env: map[string]string{"MCPCTL_NO_PREFIX": "maybe"}}, []string{"MCPCTL_NO_PREFIX", "true or false"}},
		{run{env: map[string]string{"MCPCTL_VERBOSE": "-1"}}, []string{"MCPCTL_VERBOSE"}},
		{run{env: map[string]string{"MCPCTL_HEADER": "x"}}, []string{"MCPCTL_HEADER"}},
	} {
		if len(tt.run.flags) > 0 && tt.run.flags[0] == "-o" {
			tt.run.flags[0] = "--output"
		}
		_, err := tt.run.load(t)
		var ve *settings.ValueError
		if !errors.As(err, &ve) {
			t.Errorf("%v: got %v, want a ValueError", tt.run, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(ve.Error(), w) || strings.Contains(ve.Error(), "hush") {
				t.Errorf("%v: %q lacks %q", tt.run, ve, w)
			}
		}
	}
}

func TestBrokenFile(t *testing.T) {
	for _, tt := range []struct {
		file         string
		line, column int
		message      string
		hint         string
	}{
		{"timeout: 30s\ntimeuot: 1s\n", 2, 1, "timeuot", "timeout"},
		{"serve:\n  seperator: x\n", 2, 3, "serve.seperator", "serve.separator"},
		{"separator: x\n", 1, 1, "separator", "serve"},
		{"noinput: true\n", 1, 1, "noinput", "noInput"},
		{"timeout: 30\n", 1, 10, `"30"`, ""},
		{"# c\ncolor: [auto]\n", 2, 8, "plain value", ""},
		{"color:\n", 1, 7, "plain value", ""},
		{"serve: yes\n", 1, 8, "settings of its own", ""},
		{"color: auto\ncolor: never\n", 2, 1, "twice", ""},
		{"- a\n", 1, 1, "no settings", ""},
		{"color: auto\n\tx: 1\n", 2, 1, "", "spaces"},
		{"color: 'a\n", 0, 0, "", ""},
		{"color: auto\n---\ncolor: auto\n", 2, 1, "second", ""},
		{"serve: {nameOverhead: 64}\n", 1, 23, "64", ""},
		{"auth: {store: disk}\n", 1, 15, `"disk", want file or keyring`, ""},
		{"elicit: perhaps\n", 1, 9, "defaults", ""},
		{"serve:\n  roots: no-such-directory\n", 2, 10, "does not exist", ""},
		{"serve:\n  roots:\n  - [a]\n", 3, 5, "list of texts", ""},
		{"serve:\n  roots:\n  - {a: b}\n", 3, 5, "list of texts", ""},
		{"registry:\n- https://a.example\n- [https://b.example]\n", 3, 3, "list of texts", ""},
		{"registry:\n- https://a.example\n- {url: https://b.example, key: x}\n", 2, 1, "url, headers, auth", ""},
		{"serve:\n  streamMax: [1s]\n", 2, 14, "plain value", ""},
		{"<html>\n<body>x: y</body>", 0, 0, "", ""},
	} {
		_, err := run{file: tt.file}.load(t)
		var p *config.Problem
		if !errors.As(err, &p) {
			t.Errorf("%q: got %v, want a Problem", tt.file, err)
			continue
		}
		if tt.line != 0 && (p.Line != tt.line || p.Column != tt.column) {
			t.Errorf("%q: at %d:%d, want %d:%d (%v)", tt.file, p.Line, p.Column, tt.line, tt.column, p)
		}
		if !strings.Contains(p.Message, tt.message) || !strings.Contains(p.Hint(), tt.hint) {
			t.Errorf("%q: got %q, hint %q; want %q and %q in them", tt.file, p.Message, p.Hint(), tt.message, tt.hint)
		}
		if _, err := (run{file: tt.file, skip: true}).load(t); err != nil {
			t.Errorf("%q, skipped: %v", tt.file, err)
		}
	}
}

func TestTimeoutPrecedence(t *testing.T) {
	const entry = 5 * time.Second
	for _, tt := range []struct {
		name        string
		run         run
		entry, want time.Duration
	}{
		{"nobody", run{}, 0, 0},
		{"entry", run{}, entry, entry},
		{"file", run{file: "timeout: 1m\nconnectTimeout: 1m\nserve:\n  requestTimeout: 1m\n"}, 0, time.Minute},
		{"entry over file", run{file: "timeout: 1m\nconnectTimeout: 1m\nserve:\n  requestTimeout: 1m\n"}, entry, entry},
		{"variable over entry", run{env: map[string]string{"MCPCTL_TIMEOUT": "never", "MCPCTL_CONNECT_TIMEOUT": "0", "MCPCTL_REQUEST_TIMEOUT": "0"}}, entry, -1},
		{"flag over all", run{file: "timeout: 1m\n", flags: []string{"--timeout=2s", "--connect-timeout=2s", "--request-timeout=2s"}}, entry, 2 * time.Second},
	} {
		s, err := tt.run.load(t)
		require.NoError(t, err)
		if got := s.CallTimeout(tt.entry); got != tt.want {
			t.Errorf("%s: CallTimeout = %v, want %v", tt.name, got, tt.want)
		}
		if got := s.DialTimeout(tt.entry); got != tt.want {
			t.Errorf("%s: DialTimeout = %v, want %v", tt.name, got, tt.want)
		}
		if got := s.ServeTimeout(tt.entry); got != tt.want {
			t.Errorf("%s: ServeTimeout = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNoHome(t *testing.T) {
	none := func(string) string { return "" }
	if _, err := settings.Load(settings.Options{Getenv: none}); err == nil {
		t.Error("settings without any place for them")
	}
	if _, err := settings.Load(settings.Options{Getenv: none, SkipFile: true}); err != nil {
		t.Errorf("with SkipFile: %v", err)
	}
}

// TestSyntaxPlace: a syntax error is in the line that the parser does not take, where its text
// begins.
func TestSyntaxPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"serve:\n  listGrace: 3s\n bad: 1\n":              ":3:2: ",
		"timeout: 3s\n  x: 1\n":                           ":2:3: ",
		"timeout: 3s\ncolor: a: b\n":                      ":2:1: ",
		"timeout: 3s\n\tx: 1\n":                           ":2:1: ",
		"timeout: 3s\n# text\n\nregistry: [a\ncolor: b\n": ":4:1: ",
		"timeout: *x\n":                                   ":1:1: ",
		"timeout: \"x\n":                                  ":1:1: ",
		"timeout: 3s\n---\na: b: c\n":                     ":3:1: ",
	} {
		path := filepath.Join(t.TempDir(), settings.FileName)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := settings.Load(settings.Options{Getenv: func(name string) string {
			if name == "MCPCTL_CONFIG" {
				return filepath.Join(filepath.Dir(path), "servers.json")
			}
			return ""
		}})
		if err == nil || !strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
