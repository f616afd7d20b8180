package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// evil is a text with everything that a terminal obeys or does not show.
const evil = "e\u200b\u200c\u200d\u2060\u00ad\u202e\u2066\u009b31m\x1b[31m\x1b]0;t\x07\r\u2028\u3164\u034f\ufeff\U000e0041\U000e0100vil"

// hostile is JSON with evil in place of EVIL.
func hostile(form string) json.RawMessage {
	quoted, err := json.Marshal(evil)
	if err != nil {
		panic(err)
	}
	var line bytes.Buffer // a message is one line
	if err := json.Compact(&line, []byte(strings.ReplaceAll(form, "EVIL", strings.Trim(string(quoted), `"`)))); err != nil {
		panic(err)
	}
	return line.Bytes()
}

// raw is evil as JSON may have it without escapes.
const raw = "e\u200b\u200d\u2060\u202e\u009b31m\u3164\U000e0041vil"

// hostileServer has evil in everything that it says.
func hostileServer() *runtimetest.Server {
	result := hostile(`{"content":[{"type":"text","text":"EVIL"},{"type":"resource_link","uri":"x:EVIL","name":"EVIL","mimeType":"EVIL"},
		{"type":"resource","resource":{"uri":"x:EVIL","text":"EVIL"}},{"type":"image","data":"eA==","mimeType":"image/EVIL"},{"type":"EVIL"}]}`)
	object := `{"type":"object","description":"EVIL","properties":{"EVIL":{"type":"string","description":"EVIL","enum":["EVIL"],"default":"EVIL","format":"EVIL"}},"required":["EVIL"]}`
	form := hostile(`{"message":"EVIL","requestedSchema":{"type":"object","properties":{"EVIL":{"type":"string","title":"EVIL","description":"EVIL","enum":["EVIL","b"]}},"required":["EVIL"]}}`)
	failing := func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		return nil, &runtime.Error{Code: -32000, Message: evil, Data: hostile(`{"a":"EVIL"}`)}
	}
	return &runtimetest.Server{
		Name: evil, Instructions: evil,
		Tools: []runtimetest.Tool{
			tool(string(hostile(`{"name":"EVIL","title":"EVIL","description":"EVIL","inputSchema":`+object+`,"outputSchema":`+object+`,"annotations":{"title":"EVIL"}}`)), fixed(string(result))),
			tool(`{"name":"say","inputSchema":{"type":"object"}}`, fixed(string(result))),
			tool(`{"name":"raw","description":"`+raw+`","inputSchema":{"type":"object"}}`, fixed(`{"content":[],"structuredContent":{"`+raw+`":"`+raw+`"}}`)),
			tool(`{"name":"lose","inputSchema":{"type":"object"}}`, fixed(strings.Replace(string(result), `{"content"`, `{"isError":true,"content"`, 1))),
			tool(`{"name":"fail","inputSchema":{"type":"object"}}`, failing),
			tool(`{"name":"log","inputSchema":{"type":"object"}}`, func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
				c.Progress(1, 2, evil)
				c.Notify("notifications/message", hostile(`{"level":"EVIL","logger":"EVIL","data":{"a":"EVIL"}}`))
				c.Notify("notifications/message", json.RawMessage(`{"level":"error","data":{"a":"`+raw+`"}}`))
				return result, nil
			}),
			tool(`{"name":"ask","inputSchema":{"type":"object"}}`, func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
				_, err := c.Ask(ctx, "elicitation/create", form)
				return result, err
			}),
		},
		Resources: []runtimetest.Resource{{
			Definition: hostile(`{"uri":"x:EVIL","name":"EVIL","title":"EVIL","description":"EVIL","mimeType":"EVIL","size":1}`),
			Result:     hostile(`{"contents":[{"uri":"x:EVIL","mimeType":"EVIL","text":"EVIL"}]}`),
		}},
		Templates: []json.RawMessage{hostile(`{"uriTemplate":"x:EVIL{a}","name":"EVIL","description":"EVIL"}`)},
		Prompts: []runtimetest.Prompt{{
			Definition: hostile(`{"name":"EVIL","title":"EVIL","description":"EVIL","arguments":[{"name":"EVIL","description":"EVIL"}]}`),
			Get:        fixed(string(hostile(`{"description":"EVIL","messages":[{"role":"EVIL","content":{"type":"text","text":"EVIL"}}]}`))),
		}},
	}
}

// wantPlain fails the test where a terminal would get something that is not
// plain, other than how mcpctl itself erases its live line.
func wantPlain(t *testing.T, words []string, got outcome) {
	t.Helper()
	for name, text := range map[string]string{"standard output": got.out, "standard error": got.errOut} {
		text = strings.ReplaceAll(text, "\r\x1b[2K", "")
		if shown := ui.Clean(text); shown != text {
			t.Errorf("mcpctl %s: %s has %q", strings.Join(words, " "), name, text)
		}
	}
	if strings.Contains(got.out+got.errOut, "panic") {
		t.Errorf("mcpctl %s: %s", strings.Join(words, " "), got.errOut)
	}
}

// TestHostileServerOnATerminal: whatever a server writes, in whatever command
// and form, the terminal gets nothing that it obeys or does not show.
func TestHostileServerOnATerminal(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{
		{"tools", "fs"},
		{"tools", "fs", "--schema"},
		{"describe", "fs", evil},
		{"describe", "fs", "raw"},
		{"fs", evil, "--help"},
		{"fs", "say"},
		{"fs", "raw"},
		{"fs", "lose"},
		{"fs", "fail"},
		{"fs", "log"},
		{"fs", "ask"},
		{"--elicit", "decline", "fs", "ask"},
		{"--elicit", `{"x":1}`, "fs", "ask"},
		{"fs", evil},
		{"fs", evil, "x=1"},
		{"fs", evil, evil + "=x"},
		{"fs", evil, evil + "=" + evil},
		{"fs", "evi"},
		{"resources", "fs"},
		{"resources", "fs", "--templates"},
		{"read", "fs", "x:" + evil},
		{"read", "fs", "x:evil"},
		{"prompts", "fs"},
		{"prompt", "fs", evil},
		{"prompt", "fs", "evil"},
		{"prompt", "fs", evil, "x=1"},
		{"ping", "fs"},
		{"generate", "fs", "--check"},
		{evil},
		{"fs", evil, "--" + evil},
		{"--output", evil, "list"},
		{"add", evil},
		{"get", evil},
		{"remove", evil},
	} {
		for _, flags := range [][]string{{"-o", "text"}, {"--json"}, {"-o", "text", "-vv"}, {"--json", "-vv", "--log-format", "json"}} {
			b := &bench{server: hostileServer(), tty: true, info: runtime.ServerInfo{
				Implementation: runtime.Implementation{Name: evil, Version: evil}, Version: "2025-11-25", Instructions: evil,
				Capabilities: json.RawMessage(`{"tools":{},"resources":{},"prompts":{},"logging":{}}`),
			}}
			line := append(append([]string{"--color", "never"}, flags...), words...)
			wantPlain(t, line, b.run(t, line...))
		}
	}
}

// TestHostileFilesOnATerminal: the same of a registry, of servers.json and of
// documents.
func TestHostileFilesOnATerminal(t *testing.T) {
	t.Parallel()
	record := hostile(`{"server":{"name":"io.example/evil","title":"EVIL","description":"EVIL","version":"1.0.0","websiteUrl":"https://example.com/EVIL",
		"repository":{"url":"https://example.com/EVIL","source":"EVIL","subfolder":"EVIL"},
		"packages":[{"registryType":"npm","identifier":"@example/evil","version":"1.0.0","transport":{"type":"stdio"},
		"environmentVariables":[{"name":"TOKEN","description":"EVIL","isRequired":true,"isSecret":true,"choices":["EVIL"],"placeholder":"EVIL"},{"name":"EVIL","description":"EVIL"}],
		"packageArguments":[{"type":"named","name":"--x","valueHint":"EVIL","description":"EVIL","isRequired":true}]},
		{"registryType":"EVIL","identifier":"EVIL","version":"EVIL","transport":{"type":"EVIL","url":"EVIL"}}],
		"remotes":[{"type":"streamable-http","url":"https://example.com/EVIL","headers":[{"name":"EVIL","description":"EVIL","value":"EVIL"}]}]},
		"_meta":{"io.modelcontextprotocol.registry/official":{"status":"deprecated","statusMessage":"EVIL","publishedAt":"2026-01-01T00:00:00Z","isLatest":true}}}`)
	h, err := registrytest.NewServer([]json.RawMessage{record}, registrytest.Options{})
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	var wrapped struct{ Server json.RawMessage }
	require.NoError(t, json.Unmarshal(record, &wrapped))
	for _, words := range [][]string{
		{"search", "evil"},
		{"info", "io.example/evil"},
		{"add", "io.example/evil", "--dry-run"},
		{"add", "io.example/evil", "--arg", "--x=1"},
		{"add", "io.example/evil", "--remote", "--force"},
		{"add", "io.example/evil", "--force", "--dry-run", "--arg", "--x=1"},
		{"add", "io.example/evi"},
		{"add", "./server.json", "--dry-run"},
		{"info", "./server.json"},
		{"add", "./broken.json"},
		{"generate", "x", "--from", "broken.json"},
		{"list"},
		{"get", "odd"},
		{"get", "ev"},
		{"config", "validate"},
		{"remove", evil},
		{"odd", "tool"},
		{"tools", evil},
		{"list", "--config", "broken.json"},
		{"list", "--config", evil},
		{"status"},
		{"version"},
		{"search", evil},
	} {
		for _, flags := range [][]string{{"-o", "text"}, {"--json"}, {"-o", "text", "-vv"}, {"--json", "-vv", "--log-format", "json"}} {
			home := t.TempDir()
			for name, text := range map[string][]byte{
				"servers.json": hostile(`{"mcpServers":{"odd":{"command":"EVIL","args":["EVIL"],"env":{"A":"EVIL"},"EVIL":1},"EVIL":{"command":"x"},"web":{"url":"https://example.com/EVIL"}}}`),
				"server.json":  wrapped.Server,
				"broken.json":  []byte(`{"a": ` + evil + `}`),
			} {
				require.NoError(t, os.WriteFile(filepath.Join(home, name), text, 0o600))
			}
			var out, errOut bytes.Buffer
			a := &app{environment: environment{
				ui:  ui.New(strings.NewReader(""), &out, &errOut),
				log: slog.New(slog.DiscardHandler),
				getenv: func(k string) string {
					return map[string]string{"MCPCTL_HOME": home, "MCPCTL_REGISTRY": srv.URL}[k]
				},
			}}
			a.ui.OutTTY, a.ui.ErrTTY = true, true
			a.dial = func(context.Context, string, *host) (*runtime.Client, error) { return nil, errors.New(evil) }
			line := append(append([]string{"--color", "never"}, flags...), words...)
			for i, word := range line {
				if name, ok := strings.CutPrefix(word, "./"); ok || strings.HasSuffix(word, ".json") {
					line[i] = filepath.Join(home, name)
				}
			}
			code := a.run(t.Context(), line)
			wantPlain(t, line, outcome{code, out.String(), errOut.String()})
		}
	}
}
