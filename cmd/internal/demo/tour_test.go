package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
	"github.com/mcpctl/mcpctl/cmd/internal/demo"
	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestMain makes this binary act as mcpctl when it is started by that name, as
// a tour starts what it is told is mcpctl. With TOUR_CHILD it behaves badly.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "mcpctl":
	case "mcp-guardian": // as mcpctl serve calls what it starts to outlive itself
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	default:
		os.Exit(m.Run())
	}
	switch os.Getenv("TOUR_CHILD") {
	case "":
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "mixed":
		for i := range 100 {
			fmt.Fprintln(os.Stdout, "out", i)
			fmt.Fprintln(os.Stderr, "err", i)
		}
		fmt.Fprint(os.Stdout, "no line end")
		os.Exit(7)
	case "hang":
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		fmt.Fprintln(os.Stdout, "hanging")
		<-c
		os.Exit(130)
	case "gives-up":
		fmt.Fprintln(os.Stderr, "no port is free")
		os.Exit(6)
	}
}

// environ is this process's environment. A program under the race detector
// would sleep for a second at its end.
func environ() []string { return append(os.Environ(), "GORACE=atexit_sleep_ms=0") }

// options are those of a tour in a directory of the test's, started outside
// the checkout. The returned function checks that nothing is left there.
func options(t *testing.T) (o demo.TourOptions, nothingLeft func()) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	temp := t.TempDir()
	return demo.TourOptions{Executable: self, Version: "1.2.3-test", From: temp, TempDir: temp, Environ: environ()}, func() {
		t.Helper()
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		if len(left) > 0 {
			t.Errorf("the tour has left %s", left[0].Name())
		}
	}
}

// tour runs one to its end.
func tour(t *testing.T, o demo.TourOptions) string {
	t.Helper()
	var out bytes.Buffer
	o.Out = &out
	if err := demo.Tour(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

// changed are the sample records with one text replaced.
func changed(t *testing.T, from, to string) []json.RawMessage {
	t.Helper()
	records, err := registrytest.Records()
	require.NoError(t, err)
	n := 0
	for i, r := range records {
		n += bytes.Count(r, []byte(from))
		records[i] = bytes.ReplaceAll(r, []byte(from), []byte(to))
	}
	if n == 0 {
		t.Fatalf("no sample record has %q", from)
	}
	return records
}

func TestTour(t *testing.T) {
	t.Parallel()
	o, nothingLeft := options(t)
	out := tour(t, o)
	nothingLeft()
	for _, addr := range regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*`).FindAllString(out, -1) {
		if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			c.Close()
			t.Errorf("something still listens on %s", addr)
		}
	}
	// In this order; each is of a command's own output or its exit code.
	for _, want := range []string{
		`io\.github\.acme/github-issues +1\.0\.3 +npm`,
		`"GITHUB_TOKEN": "\$\{GITHUB_TOKEN\}"`,
		`\$ mcpctl add com\.example\.demo/workshop`,
		`"Authorization": "Bearer \$\{WORKSHOP_KEY\}"`,
		`headers\.Authorization needs the environment variable WORKSHOP_KEY`,
		`\[exit code 5\]`,
		`\$ (export |\$env:)WORKSHOP_KEY`,
		`\$ mcpctl add notes -- mcpctl demo-server`,
		`notes +stdio +mcpctl demo-server`,
		`place_order\(customer:object`,
		`"sku":"oak-board".*"quantity":12`,
		`at /category: "food" is not one of`,
		`\[exit code 2\]`,
		`"totalCents":5380`,
		`the safe stays shut`,
		`\[exit code 3\]`,
		`\[image: image/png, .* saved as pictures`,
		`"version":"1\.2\.3-test"`,
		`workshop://item/\{sku\}`,
		`Plan how to build a stool`,
		`written +generated.workshop.client_gen\.go`,
		`takes a checkout of mcpctl`,
		`"method":"notifications/progress".*"progress":10`,
		`"pieces":90`,
		`listening on http://127\.0\.0\.1:\d+/mcp`,
		`notes__echo`,
		`workshop__get_item sku=oak-board\n.*"quantity":10`,
		`notes__get_item sku=oak-board\n.*"quantity":12`,
		`That was the tour`,
	} {
		at := regexp.MustCompile(want).FindStringIndex(out)
		if at == nil {
			t.Fatalf("no %s in the rest of the tour:\n%s", want, out)
		}
		out = out[at[1]:]
	}
}

func TestTourShowsTheRecordsThatThereAre(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, from, to, want, gone string }{
		{"description", "List, open and label issues", "Close every issue", "GitHub Issues: Close every issue of a repository", "List, open and label"},
		{"package", "@acme/github-issues-mcp", "@acme/renamed-mcp", `"args": ["-y", "@acme/renamed-mcp@1.0.3"]`, "github-issues-mcp"},
		{"the key's name", "key", "badge", `WORKSHOP_BADGE (secret)`, "WORKSHOP_KEY"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, nothingLeft := options(t)
			o.Records = changed(t, tt.from, tt.to)
			out := tour(t, o)
			if !strings.Contains(out, tt.want) || strings.Contains(out, tt.gone) {
				t.Errorf("want %q and no %q in\n%s", tt.want, tt.gone, out)
			}
			nothingLeft()
		})
	}
}

func TestTourStopsAtACommandThatFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, from, to, command string
		exit                    int
	}{
		{"no such record", "com.example.demo/workshop", "com.example.demo/other", "mcpctl info com.example.demo/workshop", 1},
		{"a key that does not fit", "Bearer {key}", "Basic {key}", "mcpctl tools workshop", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, nothingLeft := options(t)
			o.Records = changed(t, tt.from, tt.to)
			var out bytes.Buffer
			o.Out = &out
			err := demo.Tour(t.Context(), o)
			var step *demo.StepError
			if !errors.As(err, &step) || step.Command != tt.command || step.Exit != tt.exit {
				t.Fatalf("got %v, want exit code %d of %s", err, tt.exit, tt.command)
			}
			if _, after, _ := strings.Cut(out.String(), "$ "+tt.command+"\n"); !strings.HasPrefix(after, "mcpctl: ") || strings.Contains(after, "$ ") {
				t.Errorf("want the command's error to come last:\n%s", after)
			}
			nothingLeft()
		})
	}
}

func TestTourAsJSON(t *testing.T) {
	t.Parallel()
	o, nothingLeft := options(t)
	o.JSON = true
	var got demo.Transcript
	require.NoError(t, json.Unmarshal([]byte(tour(t, o)), &got))
	nothingLeft()
	steps := map[string]demo.Step{}
	for _, s := range got.Steps {
		steps[s.Command] = s
	}
	if s := steps["mcpctl workshop open_safe combination=1234"]; s.Exit != 3 || !strings.Contains(s.Stdout, "stays shut") || s.Stderr != "" {
		t.Errorf("got %+v, want the tool's error on stdout, exit code 3", s)
	}
	if s := steps["mcpctl ping workshop"]; s.Exit != 5 || !strings.Contains(s.Stderr, "WORKSHOP_KEY") || s.Stdout != "" {
		t.Errorf("got %+v, want the missing variable on stderr, exit code 5", s)
	}
	if s := steps["mcpctl serve --http 127.0.0.1:0 &"]; !strings.HasPrefix(s.Stderr, "listening on ") {
		t.Errorf("got %+v, want where serve listens", s)
	}
	if got.Remains || filepath.Dir(got.Dir) != o.TempDir {
		t.Errorf("got dir %s, kept %v, want one in %s that was not", got.Dir, got.Remains, o.TempDir)
	}
}

func TestTourKeepsItsDirectory(t *testing.T) {
	t.Parallel()
	o, _ := options(t)
	o.Keep = true
	out := tour(t, o)
	dirs, err := filepath.Glob(filepath.Join(o.TempDir, "mcpctl-demo-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("got %v, %v, want one directory", dirs, err)
	}
	if !strings.Contains(out, "Its files are in "+dirs[0]) {
		t.Errorf("the end does not name %s:\n%s", dirs[0], out)
	}
	raw, err := os.ReadFile(filepath.Join(dirs[0], "home", "servers.json"))
	if err != nil || !bytes.Contains(raw, []byte("Bearer ${WORKSHOP_KEY}")) || bytes.Contains(raw, []byte("demo-server\"]}}")) {
		t.Errorf("got %s, %v, want the placeholder", raw, err)
	}
}

// TestTourHidesTheUsersSettings: a configuration in the environment neither
// shows nor is touched.
func TestTourHidesTheUsersSettings(t *testing.T) {
	t.Parallel()
	o, nothingLeft := options(t)
	mine := filepath.Join(t.TempDir(), "servers.json")
	const text = `{"mcpServers": {"private": {"command": "x"}}}`
	require.NoError(t, os.WriteFile(mine, []byte(text), 0o600))
	o.Environ = append(environ(), "MCPCTL_CONFIG="+mine, "MCPCTL_TIMEOUT=rubbish", "MCPCTL_JSON=1")
	if out := tour(t, o); strings.Contains(out, "private") {
		t.Errorf("the user's server is in the tour:\n%s", out)
	}
	if raw, err := os.ReadFile(mine); err != nil || string(raw) != text {
		t.Errorf("the user's file is %q, %v", raw, err)
	}
	nothingLeft()
}

// watcher calls back once, when a text has gone by.
type watcher struct {
	text string
	then func() error
	seen bytes.Buffer
	did  bool
}

func (w *watcher) Write(p []byte) (int, error) {
	w.seen.Write(p)
	if !w.did && strings.Contains(w.seen.String(), w.text) {
		w.did = true
		if err := w.then(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// stops are places where a tour may be ended: at its beginning, in the middle
// of a command, while serve runs.
func stops() []string {
	return []string{"none of your files", "$ mcpctl tools workshop", "listening on"}
}

func TestTourEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, at := range stops() {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			o, nothingLeft := options(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := &watcher{text: at, then: func() error { cancel(); return nil }}
			o.Out = w
			if err := demo.Tour(ctx, o); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
			if strings.Contains(w.seen.String(), "That was the tour") {
				t.Error("it went on to its end")
			}
			nothingLeft()
		})
	}
}

func TestTourEndsWhenItsReaderGoes(t *testing.T) {
	t.Parallel()
	for _, at := range stops() {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			o, nothingLeft := options(t)
			o.Out = &watcher{text: at, then: func() error { return io.ErrClosedPipe }}
			if err := demo.Tour(t.Context(), o); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("got %v, want %v", err, io.ErrClosedPipe)
			}
			nothingLeft()
		})
	}
}
