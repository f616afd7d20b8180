//go:build faults && linux

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// canaries are the variables that the entries of TestSecrets refer to.
func canaries() map[string]string {
	return map[string]string{
		"SECRET_HDR": hostile.Canary("/hdr+1?a&b=c"), "SECRET_KEY": hostile.Canary("-key"), "SECRET_PASS": hostile.Canary("-pass"),
		"SECRET_QUERY": hostile.Canary("-query"), "SECRET_PART": hostile.Canary("-part"),
		"SECRET_TOKEN": hostile.Canary(`/env+1?a&b="c`), "DB_PASSWORD": hostile.Canary("-db"),
	}
}

// leakingServers returns entries of servers that repeat what they were given, one for each
// way and moment: in the short form each way once. Their names tell which.
func leakingServers(t *testing.T) wire.Servers {
	t.Helper()
	moments := []string{"initialize", "tools/list", "tools/call"}
	s := wire.Servers{"good": hostileEntry("good", "")}
	each := func(leaks []string, add func(name, leak, at string)) {
		for i, leak := range leaks {
			for j, at := range moments {
				if leak == "leak-result" && at == "tools/call" {
					continue // what a call returns is its caller's
				}
				if !testing.Short() || i%len(moments) == j {
					add(strings.TrimPrefix(leak, "leak-")+"-"+strings.TrimPrefix(at, "tools/"), leak, at)
				}
			}
		}
	}
	each(hostile.Leaks(), func(name, leak, at string) {
		remote := httptest.NewServer(hostile.Handler(name, leak+"@"+at))
		t.Cleanup(remote.Close)
		s["h-"+name] = map[string]any{
			"url": strings.Replace(remote.URL, "://", "://someone:${SECRET_PASS}@", 1) + "/${SECRET_PART}/mcp?key=${SECRET_QUERY}",
			"headers": map[string]string{
				"Authorization": "Bearer ${SECRET_HDR}", "X-Api-Key": "${SECRET_KEY}", "Cookie": "sid=" + hostile.Canary("-cookie") + "; theme=dark",
			},
			"connectTimeout": "5s",
		}
	})
	each(hostile.ProgramLeaks(), func(name, leak, at string) {
		name = "p-" + name
		e := hostileEntry(name, leak, "-leak-at", at, "-token", "${SECRET_TOKEN}", "postgres://u:${DB_PASSWORD}@db/x", "--api-key="+hostile.Canary("-arg"))
		e["env"] = map[string]string{
			hostile.LeakVariable + "TOKEN": "${SECRET_TOKEN}", hostile.LeakVariable + "KEY": hostile.Canary("-" + name),
			hostile.LeakVariable + "DB": "postgres://u:${DB_PASSWORD}@db/x",
		}
		s[name] = e
	})
	return s
}

// clean fails where a text has a canary.
func clean(t *testing.T, where, text string) {
	t.Helper()
	found := hostile.Find(text)
	for _, f := range found[:min(len(found), 2)] {
		t.Errorf("%s shows …%q…", where, f)
	}
}

// TestSecrets: credentials of servers that repeat them are in no answer to a
// client, no log, no output of a command, no file that mcpctl writes, no dump,
// and no other process.
func TestSecrets(t *testing.T) {
	for name, value := range canaries() {
		t.Setenv(name, value)
	}
	for _, format := range []string{"json", "text"} {
		s := leakingServers(t)
		d := serve(t, s, "-vvv", "--log-format", format)
		secretsOfServe(t, d, s)
		secretsOfProcesses(t, d)
		secretsOfCommands(t, d, s, format)
		// The dump of all goroutines.
		_ = d.Cmd.Process.Signal(syscall.SIGQUIT)
		<-d.Exited
		d.Stopped = true
		wire.NothingLeft(t, d.Mark, time.Now())
		if text := d.Stderr.String(); !strings.Contains(text, "goroutine 1 ") || !strings.Contains(text, "server stderr") {
			t.Errorf("no dump, or no log: %s", d.Stderr.Tail())
		}
		clean(t, "the log of serve as "+format, d.Stderr.String())
		secretsOfFiles(t, d.Home)
		secretsOfFiles(t, filepath.Dir(d.Config))
		for _, file := range []string{"mcpctl.db", "verdicts.json", "generated/good/a/client_gen.go"} {
			if found, _ := filepath.Glob(filepath.Join(d.Home, "*", file)); len(found) == 0 {
				if found, _ = filepath.Glob(filepath.Join(d.Home, file)); len(found) == 0 {
					t.Errorf("there is no %s to look into", file)
				}
			}
		}
	}
}

// secretsOfServe has a client ask serve for everything.
func secretsOfServe(t *testing.T, d *daemon, s wire.Servers) {
	t.Helper()
	c := newCaller(d)
	defer c.Close()
	require.NoError(t, c.initialize(t.Context()))
	defer func() { _ = c.End(context.Background()) }()
	ask := func(body string) string {
		ctx := wait.Context(t)
		res, err := c.Post(ctx, body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		text := fmt.Sprintf("%v %s", res.Header, res.Body)
		clean(t, "the answer to "+body, text)
		return text
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
	list := ""
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tools/list"} {
		list = ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
	}
	if !strings.Contains(list, `"dev.mcpctl/partial":[`) || !strings.Contains(list, `"kind":"`) || !strings.Contains(list, "good__echo") {
		t.Errorf("the list is not partial: %.2000s", list)
	}
	var wg sync.WaitGroup
	for name := range s {
		wg.Go(func() {
			for _, p := range []string{`tools/call","params":{"name":"` + name + `__echo"}`, `prompts/get","params":{"name":"` + name + `__p"}`, `resources/read","params":{"uri":"x:y"}`} {
				ask(`{"jsonrpc":"2.0","id":1,"method":"` + p + `}`)
			}
		})
	}
	wg.Wait()
	ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	words := []string{"--url", d.URL, "tools"}
	if wire.Identity() {
		words = append(words, "-H", "Authorization=Bearer "+wire.Token())
	}
	missing := d.run(t, words...)
	// With policies a command has a proxy of its own in front.
	if !strings.Contains(missing, " is missing: ") || !strings.Contains(missing, "(mcpctl doctor ") {
		t.Errorf("nobody says what is missing: %s", missing)
	}
	for _, words := range [][]string{{"status"}, {"status", "--json"}, {"status", "-o", "text", "-vvv"}} {
		if text := d.run(t, words...); !strings.Contains(text, "[redacted]") {
			t.Errorf("%v has no details: %s", words, text)
		}
	}
}

// secretsOfProcesses checks the guardian, which has none of serve's environment,
// and each server, which has its own credentials alone.
func secretsOfProcesses(t *testing.T, d *daemon) {
	t.Helper()
	read := func(pid int, file string) string {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file)) // it may have ended
		return string(raw)
	}
	guardians, programs := 0, 0
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		var pid, parent int
		var state string
		_, _ = fmt.Sscan(filepath.Base(name), &pid)
		_, rest, _ := strings.Cut(read(pid, "stat"), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil || parent != d.Cmd.Process.Pid {
			continue
		}
		environ, line := read(pid, "environ"), read(pid, "cmdline")
		if strings.HasPrefix(line, "mcp-guardian") {
			guardians++
			clean(t, "the guardian's environment", environ)
			clean(t, "the guardian's command line", line)
			if len(environ) > 200 {
				t.Errorf("the guardian's environment is %q", environ)
			}
			continue
		}
		words := strings.Split(line, "\x00")
		i := slices.Index(words, "-name")
		if i < 0 {
			continue
		}
		programs++
		own := words[i+1]
		for text := range strings.SplitSeq(environ, "\x00") {
			variable, value, _ := strings.Cut(text, "=")
			if len(hostile.Find(value)) > 0 && (!strings.HasPrefix(variable, hostile.LeakVariable) || own == "good") {
				t.Errorf("the server %s has %q", own, text)
			}
			if variable == hostile.LeakVariable+"KEY" && value != hostile.Canary("-"+own) {
				t.Errorf("the server %s has another's %q", own, text)
			}
		}
	}
	if guardians != 1 || programs < 2 {
		t.Errorf("%d guardians and %d servers are running", guardians, programs)
	}
}

// secretsOfCommands runs the commands that connect to servers, and those that
// print entries.
func secretsOfCommands(t *testing.T, d *daemon, s wire.Servers, format string) {
	t.Helper()
	flags := []string{"-vvv", "--log-format", format}
	if format == "json" {
		flags = append(flags, "--json")
	}
	commands := func(name string) [][]string {
		out := filepath.Join(d.Home, "generated", name) // secretsOfFiles looks into it
		return [][]string{
			{"tools", name},
			{"call", name, "echo", "message=hi"},
			{"ping", name},
			{"resources", name},
			{"prompts", name},
			{"describe", name, "echo"},
			{"read", name, "x:y"},
			{"prompt", name, "p"},
			{"generate", name, "--out", filepath.Join(out, "a")},
			{"generate", name, "--out", filepath.Join(out, "b"), "--record", filepath.Join(out, "r")},
			{"get", name},
			{"get", name, "-o", "text"},
		}
	}
	var wg sync.WaitGroup
	space := make(chan struct{}, 4)
	for i, name := range slices.Sorted(maps.Keys(s)) {
		all := commands(name)
		if testing.Short() && i%8 > 0 { // the call of each, and everything with some
			all = all[1:2]
		} else if i%4 > 0 {
			all = all[:3]
		}
		for _, words := range all {
			wg.Go(func() {
				space <- struct{}{}
				defer func() { <-space }()
				d.run(t, append(words, flags...)...)
			})
		}
	}
	wg.Wait()
	for _, words := range [][]string{
		{"list"},
		{"list", "-o", "text"},
		{"list", "--json"},
		{"config", "validate"},
		{"get", "none"},
		{"add", "x", "--dry-run", "--url", "https://u:" + hostile.Canary("-p") + "@h.example/?k=" + hostile.Canary("-q"), "--header", "X-Key=" + hostile.Canary("-h")},
		{"add", "x", "--dry-run", "--env", "API_KEY=" + hostile.Canary("-e"), "--", "sh", "--token", hostile.Canary("-t"), "--password=" + hostile.Canary("-w")},
		{"tools", "--url", "ftp://u:" + hostile.Canary("-p") + "@h.example/?k=" + hostile.Canary("-q")},
		{"tools", "--url", "http://u:" + hostile.Canary("-p") + "@127.0.0.1:1/?k=" + hostile.Canary("-q"), "-H", "X-Key=" + hostile.Canary("-h")},
		{"search", "x", "--registry", "ftp://u:" + hostile.Canary("-p") + "@h.example/?k=" + hostile.Canary("-q")},
		{"search", "x", "--registry", "http://u:" + hostile.Canary("-p") + "@127.0.0.1:1/?k=" + hostile.Canary("-q")},
	} {
		d.run(t, append(words, flags[:3]...)...)
	}
}

// run runs mcpctl beside serve and returns all it prints.
func (d *daemon) run(t *testing.T, words ...string) string {
	t.Helper()
	ctx := wait.Context(t)
	cmd := exec.CommandContext(ctx, *program, words...)
	cmd.Env, cmd.Dir = d.Cmd.Env, d.Home
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Errorf("mcpctl %v: %v", words, err)
	}
	what := strings.Join(words, " ")
	if len(hostile.Find(what)) > 0 {
		what = words[0] + " with secrets among its words"
	}
	clean(t, "mcpctl "+what, out.String())
	return out.String()
}

// secretsOfFiles checks all that mcpctl has written, names included.
func secretsOfFiles(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == "servers.json" { // which is the user's own
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		clean(t, path, path+string(raw))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
