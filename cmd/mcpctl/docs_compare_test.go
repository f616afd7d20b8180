package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/cmd/internal/demo"
	"github.com/mcpctl/mcpctl/test/require"
)

// compared is a row of the table in docs/compare.md.
type compared struct {
	job, program           string
	commands               []string
	characters, roundTrips int
}

var comparedRE = regexp.MustCompile(`(?m)^\| ([^|]+) \| (mcpctl|mcporter|Inspector) \| ([^|]+) \| (\d+) \| (\d+) \| (\d+|–) \|$`)

// comparedRows reads the table. Round trips that cannot be counted are -1.
func comparedRows(t *testing.T) []compared {
	t.Helper()
	var out []compared
	for _, m := range comparedRE.FindAllStringSubmatch(strings.Join(readPage(t, "docs/compare.md"), "\n"), -1) {
		row := compared{job: m[1], program: m[2], roundTrips: -1}
		for _, c := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[3], -1) {
			row.commands = append(row.commands, c[1])
		}
		row.characters, _ = strconv.Atoi(m[4])
		if n, _ := strconv.Atoi(m[5]); n != len(row.commands) {
			t.Errorf("%s, %s: %d commands, the page says %d", row.job, row.program, len(row.commands), n)
		}
		if n, err := strconv.Atoi(m[6]); err == nil {
			row.roundTrips = n
		}
		out = append(out, row)
	}
	if len(out) != 15 {
		t.Fatalf("docs/compare.md has %d rows, want three programs for each of five jobs", len(out))
	}
	return out
}

// TestCompareKeystrokes counts what is typed, and holds mcpctl to at most what others need.
func TestCompareKeystrokes(t *testing.T) {
	t.Parallel()
	ours := map[string]compared{}
	for _, row := range comparedRows(t) {
		typed := 0
		for _, c := range row.commands {
			typed += utf8.RuneCountInString(c)
		}
		if typed != row.characters {
			t.Errorf("%s, %s: %d characters, the page says %d", row.job, row.program, typed, row.characters)
		}
		if row.program == "mcpctl" {
			ours[row.job] = row
			continue
		}
		us := ours[row.job]
		if len(row.commands) > 0 && (typed < us.characters || len(row.commands) < len(us.commands)) {
			t.Errorf("%s: %s needs less typing than mcpctl", row.job, row.program)
		}
		if row.roundTrips >= 0 && row.roundTrips < us.roundTrips {
			t.Errorf("%s: %s needs fewer round trips than mcpctl", row.job, row.program)
		}
	}
}

// roundTrips counts the requests to a server that wait for one another: those that are under
// way side by side are one. Each takes long enough to see that.
type roundTrips struct {
	next http.Handler

	mu         sync.Mutex // guards what follows
	active, in int
}

// ServeHTTP implements [http.Handler].
func (c *roundTrips) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.count(1)
	time.Sleep(50 * time.Millisecond)
	c.next.ServeHTTP(w, r)
	c.count(-1)
}

func (c *roundTrips) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 && c.active == 0 {
		c.in++
	}
	c.active += n
}

// take returns the count, and starts again.
func (c *roundTrips) take() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.in
	c.in = 0
	return n
}

// TestCompareRoundTrips runs mcpctl's commands and counts the round trips to the server.
func TestCompareRoundTrips(t *testing.T) {
	t.Parallel()
	trips := &roundTrips{next: demo.NewServer("test").Handler()}
	counted := httptest.NewServer(trips)
	t.Cleanup(counted.Close)
	const shown = "http://127.0.0.1:8080/mcp"
	home := t.TempDir()
	entry := `{"url":"` + counted.URL + `/mcp"}`
	servers := `{"mcpServers":{"notes":` + entry + `,"shelf":` + entry + `,"bench":` + entry + `}}`
	require.NoError(t, os.WriteFile(filepath.Join(home, "servers.json"), []byte(servers), 0o600))
	run := func(line string) {
		t.Helper()
		words := strings.Fields(strings.ReplaceAll(line, shown, counted.URL+"/mcp"))
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "MCPCTL_HOME=" + home, "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), noRaceSleep}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	run("mcpctl tools --live") // the last job has servers that were listed before
	for _, row := range comparedRows(t) {
		if row.program != "mcpctl" || row.roundTrips < 0 {
			continue
		}
		trips.take()
		for _, c := range row.commands {
			run(c)
		}
		if got := trips.take(); got != row.roundTrips {
			t.Errorf("%s: %d round trips, the page says %d", row.job, got, row.roundTrips)
		}
	}
}

// TestReadmeMissing holds README.md to the program: the commands that are not there yet are
// not there.
func TestReadmeMissing(t *testing.T) {
	t.Parallel()
	page := strings.Join(readPage(t, "README.md"), "\n")
	_, section, _ := strings.Cut(page, "## What mcpctl does not do yet\n")
	section, _, _ = strings.Cut(section, "\n## ")
	c := newDocChecker(t)
	missing := 0
	for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(section, -1) {
		if m[1] == "serve" {
			continue
		}
		missing++
		out, err := c.run(c.dir, m[1], "--help")
		if err == nil || !strings.Contains(string(out), "unknown command or server") {
			t.Errorf("README.md says that there is no mcpctl %s: %s", m[1], out)
		}
	}
	if missing == 0 {
		t.Errorf("README.md names %d commands that are not there", missing)
	}
}
