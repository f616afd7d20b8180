//go:build integration

package peers_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// npm is a server of test/npm over stdio.
func npm(t *testing.T, name string, env map[string]string, server string, args ...string) entry {
	t.Helper()
	return process(name, env, npmtest.Server(t, server, args...)...)
}

// npmEverything are the ways to reach server-everything, by name.
func npmEverything() map[string]func(*testing.T) entry {
	return map[string]func(*testing.T) entry{
		"stdio": func(t *testing.T) entry { return npm(t, "everything", nil, "everything", "stdio") },
		"streamableHttp": func(t *testing.T) entry {
			return remote("everything", everythingHTTP(t, "streamableHttp")+"/mcp")
		},
		"sse": func(t *testing.T) entry {
			e := remote("everything", everythingHTTP(t, "sse")+"/sse")
			e.object["type"] = "sse"
			return e
		},
	}
}

// everythingHTTP starts server-everything on a free port and returns its root.
func everythingHTTP(t *testing.T, mode string) string {
	t.Helper()
	words := npmtest.Listener(t, mode)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), words[0], words[1:]...)
	cmd.Env = append(cmd.Environ(), "PORT=0")
	p, err := wire.Launch(cmd, npmtest.ListenerReady)
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(0) })
	return p.URL
}

// TestNPMEverythingCommandLine uses each command on server-everything.
func TestNPMEverythingCommandLine(t *testing.T) {
	t.Parallel()
	for transport, at := range npmEverything() {
		if transport == "stdio" && !wire.Nightly() { // which starts the server for each command
			continue
		}
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			config := configure(t, at(t))
			for _, c := range []struct{ words, want string }{
				{"everything echo message=hi", "Echo: hi"},
				{"everything get-sum a=40 b:=2", "42"},
				{"everything", `"name":"echo"`},
				{"--json tools everything", `"inputSchema":{`},
				{"describe everything echo", "echo"},
				{"resources everything", `"uri":"`},
				{"resources everything --templates", `"uriTemplate":"`},
				{"prompts everything", `"name":"simple-prompt"`},
				{"prompt everything simple-prompt", `"role":"user"`},
				{"prompt everything args-prompt city=Ulm", "Ulm"},
				{"everything get-structured-content location=Chicago", `"structuredContent":{`},
				{"everything get-tiny-image", `"type":"image"`},
				{"everything trigger-long-running-operation duration=0.2 steps=2", "completed"},
				{"everything simulate-research-query topic=tea", "tea"}, // runs as a task only
				{"ping everything", ""},
			} {
				if out := ok(t, config, strings.Fields(c.words)...); !strings.Contains(out, c.want) {
					t.Errorf("%s: got %.500s, want %q", c.words, out, c.want)
				}
			}
			var list struct{ Resources []struct{ URI string } }
			if err := json.Unmarshal([]byte(ok(t, config, "--json", "resources", "everything")), &list); err != nil || len(list.Resources) == 0 {
				t.Fatalf("resources: %+v, %v", list, err)
			}
			if out := ok(t, config, "--json", "read", "everything", list.Resources[0].URI); !strings.Contains(out, `"uri":"`+list.Resources[0].URI+`"`) {
				t.Errorf("read: got %.500s", out)
			}
			for words, code := range map[string]int{
				"everything echo":               2, // an argument is missing
				"everything ecko message=hi":    2,
				"everything echo mesage=hi":     2,
				"read everything nowhere://one": 2,
			} {
				if o := mcpctl(t, config, strings.Fields(words)...); o.code != code || o.stdout != "" {
					t.Errorf("%s: exit %d, want %d\n%s%s", words, o.code, code, o.stdout, o.stderr)
				}
			}
		})
	}
}

func TestNPMFilesystemAndMemoryCommandLine(t *testing.T) {
	t.Parallel()
	config, dir := filesAndMemory(t)
	note := filepath.Join(dir, "note.txt")
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"fs", "write_file", "path=" + note, "content=grüße\n"}, "Successfully wrote"},
		{[]string{"fs", "read_text_file", "path=" + note}, "grüße\\n"},
		{[]string{"fs", "edit_file", "path=" + note, "edits[0].oldText=grüße", "edits[0].newText=hallo"}, "hallo"},
		{[]string{"fs", "list_directory", "path=" + dir}, "[FILE] note.txt"},
		{[]string{"fs", "read_multiple_files", "paths=" + note, "paths=" + note}, "hallo"},
		{[]string{"memory", "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["writes programs"]}]}`}, "Ada"},
		{[]string{"memory", "search_nodes", "query=programs"}, "Ada"}, // another process: it was kept
	} {
		if out := ok(t, config, c.words...); !strings.Contains(out, c.want) {
			t.Errorf("%q: got %.500s, want %q", c.words, out, c.want)
		}
	}
	if raw, err := os.ReadFile(note); err != nil || string(raw) != "hallo\n" {
		t.Errorf("the file has %q, %v", raw, err)
	}
	if o := mcpctl(t, config, "fs", "read_text_file", "path=/etc/passwd"); o.code != 3 || !strings.Contains(o.stdout, "denied") {
		t.Errorf("a file outside: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

func filesAndMemory(t *testing.T) (config, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir()) // macOS: the server compares real paths
	require.NoError(t, err)
	return configure(t,
		npm(t, "fs", nil, "filesystem", dir),
		npm(t, "memory", map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}, "memory"),
	), dir
}

// TestNPMServe has the real servers behind serve and the SDK's client before
// it.
func TestNPMServe(t *testing.T) {
	t.Parallel()
	// Without make nightly each way once, in front and behind.
	daily := []string{"stdio-streamableHttp", "stdio 2026-07-28-sse", "http-stdio", "http 2026-07-28-streamableHttp", "sse-stdio", "http-files and memory", "stdio 2026-07-28-files and memory"}
	skips := func(name string) bool { return !wire.Nightly() && !slices.Contains(daily, name) }
	for gateway, open := range ways() {
		for transport, at := range npmEverything() {
			if skips(gateway + "-" + transport) {
				continue
			}
			t.Run(gateway+"-"+transport, func(t *testing.T) {
				t.Parallel()
				everythingTour(t, open(t, configure(t, at(t))))
			})
		}
		if skips(gateway + "-files and memory") {
			continue
		}
		t.Run(gateway+"-files and memory", func(t *testing.T) {
			t.Parallel()
			config, dir := filesAndMemory(t)
			c := open(t, config)
			ctx := wait.Context(t)
			var names []string
			for tool, err := range c.Tools(ctx, nil) {
				require.NoError(t, err)
				names = append(names, tool.Name)
			}
			if !slices.Contains(names, "fs__read_text_file") || !slices.Contains(names, "memory__create_entities") {
				t.Errorf("got tools %v", names)
			}
			path := filepath.Join(dir, "a.txt")
			if got, res, err := c.call(ctx, "fs__write_file", map[string]string{"path": path, "content": "hi"}); err != nil || res.IsError {
				t.Errorf("write: got %q, %v", got, err)
			}
			if got, _, err := c.call(ctx, "fs__read_text_file", map[string]string{"path": path}); err != nil || got != "hi" {
				t.Errorf("read: got %q, %v", got, err)
			}
			if got, _, err := c.call(ctx, "memory__read_graph", struct{}{}); err != nil || !strings.Contains(got, "entities") {
				t.Errorf("memory: got %q, %v", got, err)
			}
		})
	}
}

func everythingTour(t *testing.T, c *client) {
	ctx := wait.Context(t)
	if err := c.Ping(ctx, nil); err != nil && !c.modern() { // 2026-07-28 has none
		t.Errorf("ping: %v", err)
	}
	tools, err := c.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) < 10 {
		t.Fatalf("tools: got %+v, %v", tools, err)
	}
	for _, tool := range tools.Tools {
		if !strings.HasPrefix(tool.Name, "everything__") || len(tool.Name) > 44 {
			t.Errorf("a tool is called %s", tool.Name)
		}
	}
	if got, _, err := c.call(ctx, "everything__echo", message{"hi"}); err != nil || got != "Echo: hi" {
		t.Errorf("echo: got %q, %v", got, err)
	}
	params := &mcp.CallToolParams{Name: "everything__trigger-long-running-operation", Arguments: map[string]any{"duration": 0.5, "steps": 5}}
	params.SetProgressToken("t")
	if res, err := c.CallTool(ctx, params); err != nil || res.IsError {
		t.Errorf("long running: got %+v, %v", res, err)
	}
	// The server asks for roots soon after it has started: a client that has to
	// come back with them misses what happens meanwhile.
	wait.Until(t, "progress messages", func() bool { return len(c.steps()) >= 3 })
	resources, err := c.ListResources(ctx, nil)
	if err != nil || len(resources.Resources) == 0 {
		t.Fatalf("resources: %+v, %v", resources, err)
	}
	if res, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: resources.Resources[0].URI}); err != nil || res.Contents[0].URI != resources.Resources[0].URI {
		t.Errorf("read: got %+v, %v", res, err)
	}
	// Not in the list, but in a template.
	if res, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: "demo://resource/dynamic/text/1"}); err != nil || !strings.Contains(res.Contents[0].Text, "1") {
		t.Errorf("read by template: got %+v, %v", res, err)
	}
	if res, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "everything__args-prompt", Arguments: map[string]string{"city": "Ulm"}}); err != nil || len(res.Messages) == 0 {
		t.Errorf("prompt: got %+v, %v", res, err)
	}
	res, err := c.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "everything__completable-prompt"},
		Argument: mcp.CompleteParamsArgument{Name: "department", Value: "E"},
	})
	if err != nil || !slices.Contains(res.Completion.Values, "Engineering") {
		t.Errorf("completion: got %+v, %v", res, err)
	}
}

var execution = regexp.MustCompile(`"execution":\{"taskSupport":"[a-z]+"\},?|,"execution":\{"taskSupport":"[a-z]+"\}`)

// TestNPMGolden: what the real servers send comes back byte for byte.
func TestNPMGolden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, e := range []entry{
		npm(t, "fake", nil, "everything", "stdio"),
		npm(t, "fake", nil, "filesystem", dir),
		npm(t, "fake", map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")}, "memory"),
	} {
		config := configure(t, e)
		peer := startDirect(t, e)
		want := result(t, peer, "tools/list", `{}`)
		if got := ok(t, config, "--json", "tools", "fake"); got != want+"\n" {
			t.Errorf("tools:\n got %.2000s\nwant %.2000s", got, want)
		}
		stdio, _ := serveStdio(t, config)
		for gateway, c := range map[string]caller{"stdio": stdio, "http": post(t, serveHTTP(t, config).URL)} {
			got := items(t, result(t, c, "tools/list", `{}`), "tools")
			// Some tools are there for clients that declare more than direct does.
			got = slices.DeleteFunc(got, func(tool string) bool {
				name, _, _ := strings.Cut(strings.TrimPrefix(tool, `{"name":"fake__`), `"`)
				return !strings.Contains(want, `"name":"`+name+`"`)
			})
			for i, w := range items(t, want, "tools") {
				// How to call it as a task is not for clients: that is done for them.
				w = execution.ReplaceAllString(w, "")
				if w = strings.Replace(w, `"name":"`, `"name":"fake__`, 1); i >= len(got) || got[i] != w {
					t.Errorf("%s: tool %d of %d:\n got %.2000s\nwant %s", gateway, i, len(got), strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), w)
				}
			}
		}
	}
}
