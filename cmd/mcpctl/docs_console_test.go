//go:build unix

package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

var updateDocs = flag.Bool("update", false, "write what the commands of the documentation print into its pages")

// docAddr is the address that pages serve on; a run takes a free port for it. docRemote
// is a server that wants a login, docIssuer its authorization server; a run has fakes.
const (
	docAddr   = "127.0.0.1:8080"
	docRemote = "https://mcp.example.com"
	docIssuer = "https://login.example.com"
)

// TestDocsConsole runs the ```console blocks of each page, in order, in one
// shell a page, and compares what the commands print, standard output and error
// together. In what a page expects, a line of three dots stands for any number
// of lines and … for any text. "# exit N" behind a command is its exit code, 0
// without one. Results have the form they have on a terminal: MCPCTL_OUTPUT is
// text. Blocks ```console module are run by [TestDocsModule]. The registry is the one for tests, with its sample records.
func TestDocsConsole(t *testing.T) {
	t.Parallel()
	for _, page := range docPages(t) {
		lines := readPage(t, page)
		blocks, _, err := fencedBlocks(page, lines)
		require.NoError(t, err)
		var steps []*docStep
		for _, b := range blocks {
			if b.kind == "console" && b.of != inModule {
				s, err := docSteps(b)
				require.NoError(t, err)
				steps = append(steps, s...)
			}
		}
		if len(steps) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			sh := newDocShell(t)
			changed := false
			for _, s := range steps {
				got, code, err := sh.run(s)
				if err != nil {
					t.Fatalf("%s: $ %s: %v\n%s", s.at, s.command, err, got)
				}
				if code != s.exit {
					t.Errorf("%s: $ %s: exit code %d, want %d\n%s", s.at, s.command, code, s.exit, got)
				}
				if s.matches(got) {
					continue
				}
				if *updateDocs {
					s.got, changed = slices.DeleteFunc(strings.SplitAfter(got, "\n"), func(l string) bool { return l == "" }), true
					continue
				}
				t.Errorf("%s: $ %s: prints something else (-want +got), see -update:\n%s", s.at, s.command, cmp.Diff(strings.Join(s.want, "\n"), strings.TrimSuffix(got, "\n")))
			}
			if changed {
				rewritePage(t, page, lines, steps)
			}
		})
	}
}

// docStep is one command of a page and what it should print.
type docStep struct {
	at      string
	command string
	exit    int
	want    []string
	// from is where want begins in the page, an index of lines.
	from int
	got  []string // what to write there, with -update; nil: leave it
}

// docSteps takes a console block apart. Lines that begin with "> ", or are ">", right after
// a command go on with it.
func docSteps(b *docBlock) ([]*docStep, error) {
	var steps []*docStep
	for i := 0; i < len(b.body); i++ {
		line := b.body[i]
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			if len(steps) == 0 {
				return nil, fmt.Errorf("%s: a console block begins with a command", b.at())
			}
			last := steps[len(steps)-1]
			last.want = append(last.want, line)
			continue
		}
		s := &docStep{at: fmt.Sprintf("%s:%d", b.page, b.line+1+i)}
		for i+1 < len(b.body) && strings.HasPrefix(b.body[i+1]+" ", "> ") {
			i++
			command += "\n" + strings.TrimPrefix(strings.TrimPrefix(b.body[i], ">"), " ")
		}
		s.command, s.from = command, b.line+1+i
		if m := exitRE.FindStringSubmatch(command); m != nil {
			s.exit, _ = strconv.Atoi(m[1])
		}
		steps = append(steps, s)
	}
	// Empty lines between commands are there for the reader.
	for _, s := range steps {
		for len(s.want) > 0 && s.want[len(s.want)-1] == "" {
			s.want = s.want[:len(s.want)-1]
		}
	}
	return steps, nil
}

// matches reports whether a command's output is what the page says.
func (s *docStep) matches(got string) bool {
	var re strings.Builder
	re.WriteString(`\A`)
	for _, line := range s.want {
		if strings.TrimSpace(line) == "..." {
			re.WriteString(`(?:.*\n)*?`)
			continue
		}
		re.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*?") + `\n`)
	}
	re.WriteString(`\n*\z`)
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	return regexp.MustCompile(re.String()).MatchString(got)
}

// background reports that a command is still running when the next one begins.
func (s *docStep) background() bool {
	command, _, _ := strings.Cut(s.command, " #")
	return strings.HasSuffix(strings.TrimSpace(command), "&")
}

// rewritePage puts what was printed in the place of what did not match.
func rewritePage(t *testing.T, page string, lines []string, steps []*docStep) {
	t.Helper()
	var out []string
	at := 0
	for _, s := range steps {
		if s.got == nil {
			continue
		}
		out = append(out, lines[at:s.from]...)
		for _, line := range s.got {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
		at = s.from + len(s.want)
	}
	out = append(out, lines[at:]...)
	path := filepath.Join(checkout(), filepath.FromSlash(page))
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(out, "\n")), 0o644))
}

// docShell is the shell that runs one page.
type docShell struct {
	stdin io.Writer
	out   *growing
	mark  string
	n     int
	// real replaces the addresses of pages by those of this run, shown does the opposite.
	real, shown *strings.Replacer
	// patience bounds one command.
	patience time.Duration
}

// growing collects output and tells who waits that there is more.
type growing struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func (g *growing) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.buf.Write(p)
	close(g.more)
	g.more = make(chan struct{})
	return len(p), nil
}

func (g *growing) read() (string, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buf.String(), g.more
}

func (g *growing) drop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.buf.Reset()
}

func newDocShell(t *testing.T, more ...string) *docShell {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	records, err := registrytest.Records()
	require.NoError(t, err)
	handler, err := registrytest.NewServer(records, registrytest.Options{})
	require.NoError(t, err)
	reg := httptest.NewServer(handler)
	t.Cleanup(reg.Close)

	login := newIssuer()
	login.device, login.valid = true, []string{"made-by-hand"}
	remote := login.start()
	t.Cleanup(remote.Close)
	t.Cleanup(login.Close)

	home := t.TempDir()
	work := filepath.Join(home, "work")
	require.NoError(t, os.MkdirAll(work, 0o700))
	sh := &docShell{
		out: &growing{more: make(chan struct{})}, mark: "end-of-command-" + strconv.FormatInt(time.Now().UnixNano(), 36),
		patience: time.Until(wait.Deadline(t)),
	}
	addr := freeAddr(t)
	sh.real = strings.NewReplacer(docAddr, addr, docRemote, remote.URL, docIssuer, login.URL)
	sh.shown = strings.NewReplacer(addr, docAddr, remote.URL, docRemote, login.URL, docIssuer)
	cmd := exec.Command("sh")
	cmd.Dir = work
	cmd.Stdout, cmd.Stderr = sh.out, sh.out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"TMPDIR=" + home, "LC_ALL=C", "TERM=dumb", "MCPCTL_REGISTRY=" + reg.URL, "MCPCTL_OUTPUT=text", "NPM_CONFIG_OFFLINE=true", noRaceSleep,
	}
	cmd.Env = append(cmd.Env, more...)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	sh.stdin = stdin
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		// Whatever a page left running, or hangs, goes with its shell.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return sh
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// run has the shell run a command and gives what it printed.
func (sh *docShell) run(s *docStep) (out string, code int, err error) {
	sh.n++
	mark := sh.mark + strconv.Itoa(sh.n)
	sh.out.drop()
	// The commands must not read the script, which is the shell's input.
	script := fmt.Sprintf("{ %s\n} </dev/null\nprintf '\\n%s %%d\\n' $?\n", sh.real.Replace(s.command), mark)
	if _, err := io.WriteString(sh.stdin, script); err != nil {
		return "", 0, fmt.Errorf("the shell has ended: %w", err)
	}
	end := regexp.MustCompile(`\n` + mark + ` (\d+)\n`)
	patience := time.NewTimer(sh.patience)
	defer patience.Stop()
	for {
		text, more := sh.out.read()
		if m := end.FindStringSubmatchIndex(text); m != nil {
			code, _ = strconv.Atoi(text[m[2]:m[3]])
			out = sh.shown.Replace(text[:m[0]] + text[m[1]:])
			if !s.background() || s.matches(out) {
				return out, code, nil
			}
		}
		select {
		case <-more:
		case <-patience.C:
			return sh.shown.Replace(text), code, fmt.Errorf("no end, or not what is expected, in %s", sh.patience)
		}
	}
}

// TestDocsConsoleCheck holds the comparison itself to account.
func TestDocsConsoleCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want, got string
		ok              bool
	}{
		{"equal", "a\nb", "a\nb\n", true},
		{"no newline at the end", "a", "a", true},
		{"nothing", "", "", true},
		{"other", "a", "b\n", false},
		{"more than expected", "a", "a\nb\n", false},
		{"less than expected", "a\nb", "a\n", false},
		{"something for nothing", "", "a\n", false},
		{"spaces count", "a  b", "a b\n", false},
		{"any text", "a … c", "a b c\n", true},
		{"any text in one line only", "a … c", "a b\nc\n", false},
		{"any lines", "a\n...\nz", "a\nb\nc\nz\n", true},
		{"any lines, none", "a\n...\nz", "a\nz\n", true},
		{"any lines, another end", "a\n...\nz", "a\nb\n", false},
		{"signs of patterns", "a.c (x)", "abc (x)\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &docStep{}
			if tt.want != "" {
				s.want = strings.Split(tt.want, "\n")
			}
			if got := s.matches(tt.got); got != tt.ok {
				t.Errorf("%q against %q: got %t, want %t", tt.got, tt.want, got, tt.ok)
			}
		})
	}
}

// TestDocsShell runs commands of each kind that pages have.
func TestDocsShell(t *testing.T) {
	t.Parallel()
	sh := newDocShell(t)
	page := "$ export A=1\n$ echo $A $B; cat\n1\n$ mkdir d && cd d\n\n$ printf x; exit_code() { return 3; }; exit_code # exit 3\nx\n" +
		"$ cat <<'E'\n> in\n> E\nin\n$ mcpctl version --json\n…\n$ (sleep 30; echo late) &\n$ kill $!"
	steps, err := docSteps(&docBlock{page: "page", body: strings.Split(page, "\n")})
	require.NoError(t, err)
	if len(steps) != 8 {
		t.Fatalf("got %d steps, want 8", len(steps))
	}
	for _, s := range steps {
		got, code, err := sh.run(s)
		if err != nil || code != s.exit || !s.matches(got) {
			t.Errorf("$ %s: got %q, exit code %d, %v; want %q, %d", s.command, got, code, err, s.want, s.exit)
		}
		if strings.Contains(s.command, "version") && !json.Valid([]byte(got)) {
			t.Errorf("version --json: %q", got)
		}
	}
	sh.patience = 100 * time.Millisecond
	if _, _, err := sh.run(&docStep{command: "sleep 30"}); err == nil {
		t.Error("a command that does not end: no error")
	}
}
