package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

const sample = `// servers of mine
{
  "$schema": "x", // for editors
  "mcpServers": {
    "fs": {
      "command": "npx", "args": ["-y", "fs@1.0", "${HOME}/notes"],
      "env": {"LOG": "info"}, "cwd": "/tmp", "type": "stdio",
      "missingEnv": "empty", "isolation": "session", "maxPrincipals": 10, "requestIdFormat": "string", "strict": true, "wrapUris": true, "maxMessageBytes": 65536, "pin": "hold", "labels": ["private", "eu-1"], "trustAnnotations": true,
      "start": "eager", "idleTimeout": "never", "maxIdleTimeout": "10m",
      "connectTimeout": "5s", "requestTimeout": "never", "probeTimeout": "0", "shutdownTimeout": "1m30s",
      "origin": {"registry": "https://r.example", "name": "io.example/fs", "version": "1.0"},
    },
    "gh": {"url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "old": {"url": "http://127.0.0.1:1/sse", "type": "sse"},
    "new": {"url": "${BASE}/mcp", "type": "streamableHttp"},
    "k8s": {"command": "kubectl", "cli": true, "cliOnly": ["get"]},
  },
}`

func TestEntries(t *testing.T) {
	f := parse(t, sample)
	var got []config.Entry
	for _, e := range f.Entries() {
		if !json.Valid(e.Raw) || strings.Contains(string(e.Raw), ",}") {
			t.Errorf("%s: Raw is %s", e.Name, e.Raw)
		}
		e.File, e.Raw = "", nil
		got = append(got, e)
	}
	want := []config.Entry{
		{
			Name: "fs", Command: "npx", Args: []string{"-y", "fs@1.0", "${HOME}/notes"}, Env: map[string]string{"LOG": "info"}, Cwd: "/tmp",
			Type: "stdio", MissingEnv: "empty", Isolation: "session", MaxPrincipals: 10, RequestIDFormat: "string", Strict: true, Pin: "hold", Labels: []string{"private", "eu-1"}, TrustAnnotations: true, MaxMessageBytes: 65536, WrapURIs: true,
			ConnectTimeout: 5 * time.Second, RequestTimeout: -1, ProbeTimeout: -1, ShutdownTimeout: 90 * time.Second,
			Start: "eager", IdleTimeout: -1, MaxIdleTimeout: 10 * time.Minute,
			Origin: &config.Origin{Registry: "https://r.example", Name: "io.example/fs", Version: "1.0"},
		},
		{Name: "gh", URL: "https://api.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}},
		{Name: "old", URL: "http://127.0.0.1:1/sse", Type: "sse"},
		{Name: "new", URL: "${BASE}/mcp", Type: "http"},
		{Name: "k8s", Command: "kubectl", CLI: true, CLIOnly: []string{"get"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, transport := range []string{"stdio", "http", "sse", "http", "cli"} {
		if got := want[i].Transport(); got != transport {
			t.Errorf("%s: Transport = %q, want %q", want[i].Name, got, transport)
		}
	}
	if len(f.Faults())+len(f.Warnings()) != 0 {
		t.Errorf("faults %v, warnings %v", f.Faults(), f.Warnings())
	}
	if e, _ := f.Entry("gh"); string(e.Raw) != `{"url":"https://api.example.com/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}` {
		t.Errorf("Raw of gh is %s", e.Raw)
	}
}

// TestBrokenFiles are files that cannot be used at all.
func TestBrokenFiles(t *testing.T) {
	for _, tt := range []struct {
		text         string
		line, column int
		message      string
		hint         string
	}{
		{"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n    \"b\": {}\n  }\n}", 4, 5, "comma", "comma"},
		{`{"mcpServers": {"a": {"args": ["x" "y"]}}}`, 1, 36, "comma", "comma"},
		{"{\n  mcpServers: {}\n}", 2, 3, `"mcpServers"`, "double quotes"},
		{`{"mcpServers" {}}`, 1, 15, "colon", ""},
		{`{"mcpServers": {"a": npx}}`, 1, 22, `"npx"`, "double quotes"},
		{`{"mcpServers": {"é": 'x'}}`, 1, 22, "value", "double quotes"},
		{"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"\n  }\n}\n", 1, 1, "never closed", "}"},
		{`{"mcpServers": {"a": {"command": "C:\tools\x"}}}`, 1, 34, `\x`, `\\`},
		{"{\"mcpServers\": {\"a\": \"b\n\"}}", 1, 22, "end of its line", "quote"},
		{"{\"mcpServers\": {\"a\": \"b\t\"}}", 1, 22, "control character", ""},
		{`{"mcpServers": {"a": "b}}`, 1, 22, "closing quote", ""},
		{`{"mcpServers": {} /* c }`, 1, 19, "comment", "*/"},
		{`{"mcpServers": {}}}`, 1, 19, "after the end", "brace"},
		{`{"mcpServers": []}`, 1, 16, "an array", "{}"},
		{`{"mcpServers": null}`, 1, 16, "null", "{}"},
		{`{"mcpServers": {}, "mcpServers": {}}`, 1, 20, "second", "first"},
		{"// c\n[1]", 2, 1, "an array", "mcpServers"},
		{"\uFEFF{,}", 1, 2, "name", ""},
		{"{\"a\": \"\xff\"}", 1, 8, "UTF-8", "UTF-8"},
		{"\xff\xfe{\x00", 1, 1, "UTF-16", "UTF-8"},
		{strings.Repeat("[", 100_000), 1, 1001, "too deeply", ""},
		{`{"a": tru}`, 1, 7, `"tru"`, ""},
		{`{"a": 01}`, 1, 7, `"01"`, ""},
	} {
		name := tt.text[:min(len(tt.text), 60)]
		_, err := config.Parse("dir/servers.json", []byte(tt.text))
		var p *config.Problem
		if !errors.As(err, &p) {
			t.Errorf("%q: got %v, want a Problem", name, err)
			continue
		}
		if p.Line != tt.line || p.Column != tt.column || !strings.Contains(p.Message, tt.message) || !strings.Contains(p.Hint(), tt.hint) {
			t.Errorf("%q: got %v (hint %q), want %d:%d, %q and %q", name, p, p.Hint(), tt.line, tt.column, tt.message, tt.hint)
		}
		if want := fmt.Sprintf("dir/servers.json:%d:%d: ", tt.line, tt.column); !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %q does not begin with %q", name, err, want)
		}
		if p.ExitKind() != "config" {
			t.Errorf("%q: kind %q", name, p.ExitKind())
		}
	}
}

// TestFaults are entries that cannot be used; the one beside them can.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		entry        string
		line, column int // counted from the entry's first byte, which is 4:10
		message      string
		hint         string
	}{
		{`{"command": "a", "url": "http://x"}`, 4, 27, "both", "keep"},
		{`{}`, 4, 10, "neither", ""},
		{`{"serverUrl": "http://x"}`, 4, 10, "neither", "url"},
		{`{"command": "a", "type": "http"}`, 4, 35, "contradicts", "stdio"},
		{`{"url": "http://x", "type": "stdio"}`, 4, 38, "contradicts", "http"},
		{`{"url": "http://x", "cli": true}`, 4, 30, "contradicts", ""},
		{`{"command": "a", "type": "ws"}`, 4, 35, `"ws"`, "shape"},
		{`{"command": "a", "type": "studio"}`, 4, 35, `"studio"`, "stdio"},
		{`{"command": "a", "type": "cli"}`, 4, 35, "cli", `"cli": true`},
		{`{"command": ""}`, 4, 22, "empty", ""},
		{`{"url": "example.com/mcp"}`, 4, 18, "http://", "https"},
		{`{"url": "http://"}`, 4, 18, "host", ""},
		{"{\"command\": \"a\",\n\"args\": [\"b\",\n 3]}", 6, 2, "args[1] is the number 3", `write "3"`},
		{`{"command": "a", "args": "b c"}`, 4, 35, "want an array", `["b c"]`},
		{`{"command": ["a"]}`, 4, 22, "an array", ""},
		{`{"command": "a", "env": {"PORT": 80}}`, 4, 43, "env.PORT is the number 80", `write "80"`},
		{`{"command": "a", "env": {"A=B": "x"}}`, 4, 35, "variable", ""},
		{`{"command": "a", "env": {"A": "1", "A": "2"}}`, 4, 45, "twice", ""},
		{`{"command": "a", "env": []}`, 4, 34, "an object of strings", ""},
		{`{"url": "http://x", "headers": {"A B": "x"}}`, 4, 42, "header", ""},
		{`{"url": "http://x", "headers": {"A": "x\r\nB: y"}}`, 4, 47, "line break", ""},
		{`{"url": "http://x", "headers": {"A-B": "x", "a-b": "y"}}`, 4, 54, "headers.a-b is there twice, as A-B", "letter case"},
		{`{"command": "a\u0000"}`, 4, 22, "NUL", ""},
		{`{"command": "a", "requestTimeout": 30}`, 4, 45, `want a string such as "30s"`, `"30s"`},
		{`{"command": "a", "requestTimeout": "30"}`, 4, 45, "no unit", "30s"},
		{`{"command": "a", "requestTimeout": "-1s"}`, 4, 45, "negative", ""},
		{`{"command": "a", "requestTimeout": "soon"}`, 4, 45, "not a duration", ""},
		{`{"command": "a", "minIdleTimeout": "5m", "maxIdleTimeout": "90s"}`, 4, 51, "minIdleTimeout, 5m0s, is above maxIdleTimeout, 1m30s", ""},
		{`{"command": "a", "idleTimeout": 30}`, 4, 42, `want a string such as "30s"`, `"30s"`},
		{`{"command": "a", "start": "later"}`, 4, 36, `"later", want lazy or eager or cached`, ""},
		{`{"command": "a", "start": 5}`, 4, 36, `start is the number 5, want lazy or eager or cached`, ""},
		{`{"command": "a", "missingEnv": "ignore"}`, 4, 41, `"ignore"`, ""},
		{`{"command": "a", "requestIdFormat": 1}`, 4, 46, "want number or string", ""},
		{`{"command": "a", "protocolVersion": "2025"}`, 4, 46, `protocolVersion is "2025", want 2026-07-28 or 2025-11-25 or 2025-06-18 or 2025-03-26 or 2024-11-05`, ""},
		{`{"command": "a", "strict": "true"}`, 4, 37, "true or false", "without quotes"},
		{`{"command": "a", "cli": null}`, 4, 34, "null", ""},
		{`{"command": "a", "command": "b"}`, 4, 27, "twice", ""},
		{`{"command": "a", "origin": "x"}`, 4, 37, "an object", ""},
		{`"npx"`, 4, 10, "a string", "command"},
		{`null`, 4, 10, "null", ""},
	} {
		text := "{\n  \"mcpServers\": {\n    \"good\": {\"command\": \"x\"},\n    \"s\": " + tt.entry + "\n  }\n}\n"
		f := parse(t, text)
		_, err := f.Use("s")
		var p *config.Problem
		if !errors.As(err, &p) {
			t.Errorf("%s: got %v, want a Problem", tt.entry, err)
			continue
		}
		if p.Line != tt.line || p.Column != tt.column || !strings.Contains(p.Message, tt.message) || !strings.Contains(p.Hint(), tt.hint) || p.Server != "s" {
			t.Errorf("%s: got %v (hint %q), want %d:%d, %q and %q", tt.entry, p, p.Hint(), tt.line, tt.column, tt.message, tt.hint)
		}
		e, ok := f.Entry("s")
		if _, err := e.Expand(os.LookupEnv); !ok || !errors.As(err, new(*config.Problem)) {
			t.Errorf("%s: Expand = %v, want the fault", tt.entry, err)
		}
		if _, err := f.Use("good"); err != nil {
			t.Errorf("%s: the good entry: %v", tt.entry, err)
		}
	}
}

func TestAliasFaults(t *testing.T) {
	f := parse(t, `{"mcpServers": {
  "a__b": {"command": "x"},
  "ok": {"command": "x"},
  "ok": {"command": "y"},
  "with space": {"command": "x"},
  "list": {"command": "x"},
}}`)
	var got []string
	for _, p := range f.Faults() {
		got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Server))
	}
	if diff := cmp.Diff([]string{"2:3 a__b", "4:3 ok", "5:3 with space"}, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if _, err := f.Use("ok"); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("Use(ok) = %v, want that it is there twice", err)
	}
	if _, err := f.Use("list"); err != nil {
		t.Errorf("an alias that is a command's name can still be used: %v", err)
	}
	if w := f.Warnings(); len(w) != 1 || w[0].Line != 6 {
		t.Errorf("warnings: %v", w)
	}
	_, err := f.Use("okk")
	var missing *config.NotFoundError
	if !errors.As(err, &missing) || missing.ExitKind() != "usage" || !strings.Contains(missing.Hint(), "ok") {
		t.Errorf("Use(okk) = %v", err)
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		text         string
		line, column int
		message      string
		hint         string
	}{
		{"{\n \"mcpservers\": {}}", 2, 2, "mcpservers", "mcpServers"},
		{`{"servers": {}}`, 1, 2, "servers", "mcpServers"},
		{`{"mcpServers": {"a": {"comand": "x", "command": "y"}}}`, 1, 23, "comand", "command"},
		{`{"mcpServers": {"a": {"command": "y", "Args": []}}}`, 1, 39, "Args", "args"},
		{`{"mcpServers": {"a": {"command": "y", "timeout": 30}}}`, 1, 39, "timeout", "requestTimeout"},
		{`{"mcpServers": {"a": {"url": "http://x", "authorizationToken": "y"}}}`, 1, 42, "authorizationToken", `"headers": {"Authorization": "Bearer ${TOKEN}"}`},
		{`{"mcpServers": {"a": {"url": "http://x", "transport": "sse"}}}`, 1, 42, "transport", "type"},
		{`{"mcpServers": {"a": {"command": "y", "headers": {}}}}`, 1, 39, "no effect", ""},
		{`{"mcpServers": {"a": {"url": "http://x", "args": []}}}`, 1, 42, "no effect", ""},
		{`{"mcpServers": {"a": {"url": "http://x", "headers": {"content-length": "3"}}}}`, 1, 54, "headers.content-length belongs to the connection, so it is not sent", "remove it"},
		{`{"mcpServers": {"a": {"url": "http://x", "headers": {"Proxy-Authorization": "3"}}}}`, 1, 54, "belongs to the connection", "remove it"},
		{`{"mcpServers": {"a": {"url": "http://x", "headers": {"Mcp-Session-Id": "3"}}}}`, 1, 54, "belongs to the protocol, so it is not sent", "remove it"},
		{`{"mcpServers": {"a": {"url": "http://x", "headers": {"host": "y"}}}}`, 1, 54, "headers.host asks the machine of the URL for another host", "into url"},
		{`{"mcpServers": {"a": {"url": "https://github.com@h.example/mcp"}}}`, 1, 30, "there is a user name before the host, which is h.example", "${CREDENTIALS}"},
		{`{"mcpServers": {"a": {"url": "https://${USER}:${PASS-x}@h.example/mcp"}}}`, 1, 30, "there is a user name before the host", "Authorization"},
		{`{"mcpServers": {"a": {"url": "http://169.254.169.254/mcp"}}}`, 1, 30, "169.254.169.254 is a link-local address", "the one you mean"},
		{`{"mcpServers": {"a": {"url": "http://metadata.google.internal/${X}"}}}`, 1, 30, "link-local", ""},
		{`{"mcpServers": {"a": {"url": "https://b\u00fccher.example/mcp"}}}`, 1, 30, "it is xn--bcher-kva.example", ""},
		{`{"mcpServers": {"a": {"command": "y", "cliOnly": []}}}`, 1, 39, "cli", ""},
		{`{"mcpServers": {"a": {"command": "${env:X}"}}}`, 1, 34, "not understood", "${X}"},
		{`{"mcpServers": {"a": {"command": "${X"}}}`, 1, 34, "not understood", "${VAR}"},
		{`{"mcpServers": {"a": {"command": "y", "origin": {"nome": "x"}}}}`, 1, 50, "origin.nome", ""},
	} {
		f := parse(t, tt.text)
		w := f.Warnings()
		if len(w) != 1 || len(f.Faults()) != 0 {
			t.Errorf("%s: warnings %v, faults %v", tt.text, w, f.Faults())
			continue
		}
		if w[0].Line != tt.line || w[0].Column != tt.column || !strings.Contains(w[0].Message, tt.message) || !strings.Contains(w[0].Hint(), tt.hint) {
			t.Errorf("%s: got %v (hint %q), want %d:%d, %q and %q", tt.text, &w[0], w[0].Hint(), tt.line, tt.column, tt.message, tt.hint)
		}
	}
	if w := parse(t, `{"mcpServers": {"a": {"command": "$${X $HOME $5 $<Y> ${A:-${B}}"}}}`).Warnings(); len(w) != 0 {
		t.Errorf("ordinary text gives warnings %v", w)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	f, err := config.Load(filepath.Join(dir, "none.json"))
	if err != nil || len(f.Entries()) != 0 || len(f.Bytes()) != 0 {
		t.Errorf("a missing file: %v, %v", f, err)
	}
	if _, err := config.Load(dir); !errors.As(err, new(*config.Problem)) {
		t.Errorf("a directory: %v", err)
	}
	big := filepath.Join(dir, "big.json")
	require.NoError(t, os.WriteFile(big, make([]byte, 5<<20), 0o600))
	if _, err := config.Load(big); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("a huge file: %v", err)
	}
	for _, text := range []string{"", " \n", "// c", "/* c */\n", "\uFEFF", "{}", `{"mcpServers":{}}`, "{} // end"} {
		if f, err := config.Parse("f", []byte(text)); err != nil || len(f.Entries()) != 0 || string(f.Bytes()) != text {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

func TestAlias(t *testing.T) {
	for _, tt := range []struct{ in, clean string }{
		{"fs", "fs"},
		{"a--b", "a--b"},
		{"a_b_", "a_b_"},
		{"io.github.acme/thing", "io.github.acme-thing"},
		{"@scope/pkg name", "scope-pkg-name"},
		{"a___b", "a_b"},
		{"__x__", "x"},
		{"-.x", "x"},
		{"héé", "h"},
		{"日本", ""},
		{strings.Repeat("a", 70), strings.Repeat("a", 64)},
	} {
		got := config.CleanAlias(tt.in)
		if got != tt.clean {
			t.Errorf("CleanAlias(%q) = %q, want %q", tt.in, got, tt.clean)
		}
		if got != "" && config.CheckAlias(got) != nil {
			t.Errorf("CleanAlias(%q) = %q, which is no alias", tt.in, got)
		}
	}
	var ae *config.AliasError
	if err := config.CheckAlias("serve"); !errors.As(err, &ae) || ae.ExitKind() != "usage" {
		t.Errorf("CheckAlias(serve) = %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{sample, "", "{", `{"mcpServers": {"a": "\x"}}`, "{/*", "//", "\uFEFF{}", `{"mcpServers":{"a":{"command":"a","url":"b"}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := config.Parse("f", raw)
		if err != nil {
			var p *config.Problem
			if !errors.As(err, &p) || p.Line < 1 || p.Column < 1 || p.Message == "" || strings.Contains(p.Message, "hujson") {
				t.Fatalf("Parse(%q): %v", raw, err)
			}
			return
		}
		for _, e := range file.Entries() {
			if !json.Valid(e.Raw) {
				t.Fatalf("Parse(%q): entry %q is %q", raw, e.Name, e.Raw)
			}
			if e.Fault == nil && e.Transport() == "" {
				t.Fatalf("Parse(%q): the sound entry %q has no transport", raw, e.Name)
			}
		}
	})
}
