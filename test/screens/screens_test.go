package screens_test

import (
	"cmp"
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

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

var update = flag.Bool("update", false, "write testdata again")

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

// screen is one thing that a person looks at. How tables, fields and lists are drawn at other
// widths is for the tests of cmd/internal/ui.
type screen struct {
	name    string
	width   int // columns of the terminal
	command string
	// until is the last text that the command draws; "" waits for its end.
	until string
	// whole is what must be on the screen uncut, lines joined that the terminal has broken.
	whole []string
	// steady replaces what differs from run to run.
	steady bool
}

func screens(serve string) []screen {
	return []screen{
		{name: "list", width: 60, command: "mcpctl list", whole: []string{"tracker", "far", farURL, "off", "disabled"}},
		{name: "watch", width: 80, command: "mcpctl list --watch", until: "disabled", whole: []string{"tracker", "far", "disabled"}},
		{name: "remove", width: 80, command: "mcpctl remove tracker", until: "(y/N)", whole: []string{"tracker: tracker-mcp --project frontend"}, steady: true},
		{name: "tools", width: 80, command: "mcpctl tools tracker", whole: []string{longTool + "(", "organizationSlug", "naturalLanguageQuery", "create_issue(", "title", "labels", "delete_project(", "projectSlug", "import_issues", "whoami", "The user that"}},
		{name: "describe", width: 60, command: "mcpctl describe tracker " + longTool, whole: []string{`"duplicate"`, `"in review"`, "organizationSlug", "naturalLanguageQuery", "mcpctl tracker " + longTool + " organizationSlug=TEXT naturalLanguageQuery=TEXT"}},
		{name: "status", width: 80, command: "mcpctl status", whole: []string{"tracker", serve}, steady: true},
		{name: "error", width: 60, command: "mcpctl --no-input call tracker create_issue title=x", whole: []string{"mcpctl describe tracker create_issue", "labels"}},
		{name: "asks", width: 60, command: "mcpctl call tracker create_issue title=x", until: "labels (several"},
		{name: "picks", width: 80, command: "mcpctl call tracker", until: "type to filter", whole: []string{"create_issue"}},
		{name: "tool-error", width: 80, command: "mcpctl tracker create_issue title=x labels=bug", whole: []string{"title: is too long", "due: is in the past"}},
		{name: "elicitation", width: 80, command: "mcpctl tracker delete_project projectSlug=frontend", until: "Decline", whole: []string{"Delete the project frontend with 1,234 issues?"}},
		{name: "policy-show", width: 60, command: policies + "policy show", whole: []string{"rule-1 (config.yaml:6)", "no-delete (config.yaml:7)", "only leads delete projects"}},
		{name: "policy-explain", width: 60, command: policies + "tools --json tracker >/dev/null; " + policies + `policy explain call tracker/delete_project --as alice@example.com --args '{"projectSlug":"frontend"}'`, whole: []string{"denied: call tracker/delete_project", "only leads delete projects", "projectSlug: true"}},
		{name: "start", width: 80, command: "mcpctl", whole: []string{"tracker", "mcpctl enable off", "mcpctl serve --http", "Not imported: Cursor (notes)"}, steady: true},
		{name: "start-empty", width: 60, command: "MCPCTL_HOME=$HOME/empty mcpctl", whole: []string{"mcpctl import", "mcpctl search github"}, steady: true},
		{name: "add", width: 80, command: "MCPCTL_HOME=$HOME/adding mcpctl add shop -- mcpctl demo-server", whole: []string{"shop has 7 tools: mcpctl shop"}},
		{name: "add-fails", width: 80, command: "MCPCTL_HOME=$HOME/failing mcpctl add bad -- sh -c 'exit 3'", whole: []string{"bad is added, and does not work yet", "mcpctl doctor bad"}},
		{name: "serve", width: 100, command: "mcpctl serve --http 127.0.0.1:0 --server tracker", until: "Ctrl-C ends it", whole: []string{"claude mcp add --transport http mcpctl http://127.0.0.1:"}, steady: true},
		{name: "progress", width: 120, command: "mcpctl tracker import_issues", until: "45%"},
	}
}

// policies begins a command with policies, which the others do not have.
const policies = "mcpctl --config policies/servers.json "

const ended = "[ended: "

// TestScreens draws each screen.
func TestScreens(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux here, which draws the screens: apt-get install tmux, or the like")
	}
	w := newWorld(t)
	for _, s := range screens(w.serve) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			shown, joined := w.draw(t, s)
			for _, want := range s.whole {
				if !strings.Contains(joined, want) {
					t.Errorf("%q is cut or missing:\n%s", want, shown)
				}
			}
			if s.steady {
				shown = steady(strings.ReplaceAll(joined, w.home, "HOME"))
			}
			golden(t, filepath.Join("testdata", s.name+".txt"), shown)
		})
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
	if diff := gocmp.Diff(string(want), got); diff != "" {
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
	_, err = wire.Build(t.Context(), filepath.Join(bin, "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl", "-buildvcs=false") // its version is on a screen
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "tracker-mcp")))
	servers := `{"mcpServers":{
		"tracker":{"command":"tracker-mcp","args":["--project","frontend"],"env":{"` + isServer + `":"1"}},
		"far":{"url":"` + farURL + `"},
		"off":{"command":"npx","args":["-y","@example/server-filesystem@1.2.3","/home/user/documents/notes"],"disabled":true}}}`
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "servers.json"), []byte(servers), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(w.home, ".cursor"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.home, ".cursor", "mcp.json"), []byte(`{"mcpServers": {"notes": {"command": "notes"}}}`), 0o600))
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
func (w *world) draw(t *testing.T, s screen) (shown, joined string) {
	t.Helper()
	ctx := wait.Context(t)
	run := "stty -echo; " + s.command + `; printf '` + ended + `%d]\n' $?; exec sleep 300`
	tmux := func(words ...string) string {
		out, err := w.command(ctx, "tmux", append([]string{"-S", w.socket, "-u", "-f", os.DevNull}, words...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v\n%s", words, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-s", s.name, "-x", strconv.Itoa(s.width), "-y", "90", run)
	defer tmux("kill-session", "-t", "="+s.name+":")
	capture := func(flags string) string { return tmux("capture-pane", flags, "-t", "="+s.name+":") }
	until := cmp.Or(s.until, ended)
	wait.Until(t, until, func() bool {
		shown = capture("-p")
		// A line is drawn once the next one, or the same again, is there.
		return strings.Contains(shown, until) && shown == capture("-p")
	})
	return strings.TrimRight(shown, "\n") + "\n", capture("-pJ")
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
