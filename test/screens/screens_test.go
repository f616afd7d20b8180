package screens_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

var update = flag.Bool("update", false, "write testdata anew")

func TestMain(m *testing.M) {
	if os.Getenv(isServer) != "" {
		if err := serveTracker(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// screen is one thing that a person looks at.
type screen struct {
	name    string
	command string
	// until is what the screen shows when it is taken; "" waits for the command's end.
	until string
	// whole is what must stand uncut on the screen, lines that the terminal has broken
	// joined.
	whole []string
	// steady replaces what differs from run to run.
	steady bool
}

func screens(serve string) []screen {
	return []screen{
		{name: "list", command: "mcpctl list", whole: []string{"tracker", "far", farURL, "off", "disabled"}},
		{name: "tools", command: "mcpctl tools tracker", whole: []string{longTool + "(", "organizationSlug", "naturalLanguageQuery", "create_issue(", "title", "labels", "delete_project(", "projectSlug", "import_issues", "whoami", "The user that"}},
		{name: "tools-all", command: "mcpctl tools tracker >/dev/null; mcpctl tools", whole: []string{longTool + "(", "naturalLanguageQuery", "mcpctl tools far"}, steady: true},
		{name: "describe", command: "mcpctl describe tracker " + longTool, whole: []string{`"duplicate"`, `"in review"`, "organizationSlug", "naturalLanguageQuery", "mcpctl tracker " + longTool + " organizationSlug=TEXT naturalLanguageQuery=TEXT"}},
		{name: "resources", command: "mcpctl resources tracker", whole: []string{longURI, "tracker://me"}},
		{name: "doctor", command: "mcpctl doctor tracker", whole: []string{"tracker"}, steady: true},
		{name: "status", command: "mcpctl status", whole: []string{"tracker", serve}, steady: true},
		{name: "error", command: "mcpctl call tracker create_issue title=x", whole: []string{"mcpctl describe tracker create_issue", "labels"}},
		{name: "tool-error", command: "mcpctl tracker create_issue title=x labels=bug", whole: []string{"title: is too long", "due: is in the past"}},
		{name: "elicitation", command: "mcpctl tracker delete_project projectSlug=frontend", until: "Decline", whole: []string{"Delete the project frontend with 1,234 issues?"}},
		{name: "policy-show", command: policies + "policy show", whole: []string{"rule-1 (config.yaml:6)", "no-delete (config.yaml:7)", "only leads delete projects"}},
		{name: "policy-check", command: policies + "tools tracker >/dev/null; " + policies + "policy check", whole: []string{"config.yaml:8: rule-3: there is no server \"trackr\"", "did you mean tracker?"}},
		{name: "policy-explain", command: policies + "tools tracker >/dev/null; " + policies + `policy explain call tracker/delete_project --as alice@example.com --args '{"projectSlug":"frontend"}'`, whole: []string{"denied: call tracker/delete_project", "only leads delete projects", "projectSlug: true"}},
		{name: "audit", command: audited + "for p in frontend backend; do mcpctl tracker delete_project projectSlug=$p 2>/dev/null; done; mcpctl audit --errors", whole: []string{"call tracker/delete_project", "deny by no-delete", "local"}, steady: true},
		{name: "progress", command: "mcpctl tracker import_issues", until: "45%"},
	}
}

// policies begins a command with policies, which the others do not have.
const policies = "mcpctl --config policies/servers.json "

// audited begins commands with an audit log, which no others write.
const audited = `export MCPCTL_HOME=$(mktemp -d -p "$HOME"); cp audited/* $MCPCTL_HOME; `

const ended = "[ended: "

// TestScreens draws each screen at each width.
func TestScreens(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux here, which draws the screens: apt-get install tmux, or the like")
	}
	w := newWorld(t)
	for _, s := range screens(w.serve) {
		for _, width := range []int{60, 80, 120} {
			t.Run(s.name+"/"+strconv.Itoa(width), func(t *testing.T) {
				t.Parallel()
				shown, joined := w.draw(t, s, width)
				for _, want := range s.whole {
					if !strings.Contains(joined, want) {
						t.Errorf("%q is cut or missing:\n%s", want, shown)
					}
				}
				if s.steady {
					shown = steady(strings.ReplaceAll(joined, w.home, "HOME"))
				}
				golden(t, filepath.Join("testdata", s.name+"-"+strconv.Itoa(width)+".txt"), shown)
			})
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// world is where the commands run: a configuration, a running serve, and a tmux of its own.
type world struct {
	home, socket, serve string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{home: t.TempDir()}
	// A socket's path has a bound of about 100 bytes.
	short, err := os.MkdirTemp("", "scr") //nolint:usetesting // its path is too long
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	w.socket = filepath.Join(short, "tmux")
	bin := filepath.Join(w.home, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o700))
	_, err = wire.Build(t.Context(), filepath.Join(bin, "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl")
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "tracker-mcp")))
	servers := `{"mcpServers":{
		"tracker":{"command":"tracker-mcp","args":["--project","frontend"],"env":{"` + isServer + `":"1"}},
		"far":{"url":"` + farURL + `"},
		"off":{"command":"npx","args":["-y","@example/server-filesystem@1.2.3","/home/user/documents/notes"],"disabled":true}}}`
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "servers.json"), []byte(servers), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(w.home, "policies"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "policies", "servers.json"), []byte(servers), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "policies", "config.yaml"), []byte(`access:
  default: deny
  groups:
    crew: [alice@example.com, "idp:engineers"]
  rules:
    - {allow: [crew, local], to: tracker}
    - {id: no-delete, deny: crew, to: tracker/delete_project, when: {args.projectSlug: {in: [frontend, backend]}}, reason: only leads delete projects}
    - {allow: crew, to: trackr}
`), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(w.home, "audited"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "audited", "servers.json"), []byte(servers), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "audited", "config.yaml"), []byte(`access:
  rules:
    - {id: no-delete, deny: "*", to: tracker/delete_project, when: {args.projectSlug: {in: [frontend, backend]}}}
audit: {}
`), 0o600))
	cmd := w.command(context.WithoutCancel(t.Context()), "mcpctl", "serve", "--http", "127.0.0.1:0", "--server", "tracker")
	p, err := wire.Launch(cmd, "listening on ")
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(10 * time.Second) })
	w.serve = p.URL
	out, err := w.command(t.Context(), "mcpctl", "--url", p.URL, "call", "tracker__whoami").CombinedOutput()
	if err != nil {
		t.Fatalf("a call through serve: %v\n%s", err, out)
	}
	// The first session starts the server, which ends with the last.
	out, err = w.command(t.Context(), "tmux", "-S", w.socket, "-f", os.DevNull, "new-session", "-d", "exec sleep 300").CombinedOutput()
	if err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = w.command(context.Background(), "tmux", "-S", w.socket, "kill-server").Run() })
	return w
}

// command returns a command in this world's environment.
func (w *world) command(ctx context.Context, name string, words ...string) *exec.Cmd {
	path := filepath.Join(w.home, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	if name == "mcpctl" {
		name = filepath.Join(w.home, "bin", name)
	}
	cmd := exec.CommandContext(ctx, name, words...)
	cmd.Env = []string{"PATH=" + path, "HOME=" + w.home, "MCPCTL_HOME=" + w.home, "MCPCTL_NO_SESSION=1", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SHELL=/bin/sh"}
	cmd.Dir = w.home
	return cmd
}

// draw runs a command on a terminal of its own and returns what the terminal shows, and the
// same with lines joined that it has broken.
func (w *world) draw(t *testing.T, s screen, width int) (shown, joined string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session := s.name + strconv.Itoa(width)
	run := "stty -echo; " + s.command + `; printf '` + ended + `%d]\n' $?; exec sleep 60`
	tmux := func(words ...string) string {
		out, err := w.command(ctx, "tmux", append([]string{"-S", w.socket, "-u", "-f", os.DevNull}, words...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v\n%s", words, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-s", session, "-x", strconv.Itoa(width), "-y", "90", run)
	defer tmux("kill-session", "-t", "="+session+":")
	until := s.until
	if until == "" {
		until = ended
	}
	for {
		shown = tmux("capture-pane", "-p", "-t", "="+session+":")
		if strings.Contains(shown, until) {
			break
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no %q in a minute:\n%s", until, shown)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if s.until != "" {
		time.Sleep(100 * time.Millisecond) // the rest of what is being drawn
		shown = tmux("capture-pane", "-p", "-t", "="+session+":")
	}
	joined = tmux("capture-pane", "-p", "-J", "-t", "="+session+":")
	return strings.TrimRight(shown, "\n") + "\n", joined
}

// changing are parts of a screen that differ from run to run, or depend on the length of
// such a part, and what stands for them.
var changing = []struct {
	part *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\d+(\.\d+)?`), "#"},
	{regexp.MustCompile(`#(µs|ms|s|m|h)(#s|#m)?`), "#t"},
	{regexp.MustCompile(`((legacy|modern)\)),\s+#t`), "$1"}, // where it took long
	{regexp.MustCompile(`# re[a-z]*…`), "# resources"},
	{regexp.MustCompile(`(close in|close|clo) ?[^\s]*…`), "close in #t"},
	{regexp.MustCompile(`(?m) +$`), ""},
	{regexp.MustCompile(`\n +`), "  "}, // where a line ends
	{regexp.MustCompile(` {2,}`), "  "},
}

// steady returns a screen without what changes.
func steady(shown string) string {
	shown = strings.TrimRight(shown, "\n ") + "\n"
	for _, c := range changing {
		shown = c.part.ReplaceAllString(shown, c.with)
	}
	return shown
}
