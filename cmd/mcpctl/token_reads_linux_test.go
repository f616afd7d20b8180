package main_test

import (
	"encoding/binary"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestTokenReads: who connects to a remote server reads the token file once; who does
// not, never.
func TestTokenReads(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(runtimetest.New().Handler(runtimetest.HTTPOptions{Bearer: "kept"}))
	defer srv.Close()
	home := t.TempDir()
	file := filepath.Join(home, "auth.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"version":1,"tokens":[{"server":"`+srv.URL+`/mcp","accessToken":"kept","source":"oauth"}]}`), 0o600))
	const calls = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"remote__echo","arguments":{"message":"hi"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"remote__echo","arguments":{"message":"hi"}}}
`
	servers := `"remote":{"url":"` + srv.URL + `/mcp"},"local":{"command":"fake-mcp"}`
	config := filepath.Join(home, "servers.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{`+servers+`}}`), 0o600))
	for words, want := range map[string]int{
		"call remote echo message=hi": 1, "remote echo message=hi": 1, "tools remote": 1, "--url " + srv.URL + "/mcp call echo message=hi": 1,
		"call local echo message=hi": 0, "list": 0, "auth status": 1,
		"serve": 1,
	} {
		opens := watchOpens(t, file)
		cmd := exec.Command("mcpctl", strings.Fields(words)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "MCPCTL_HOME=" + home, noRaceSleep}
		if words == "serve" {
			cmd.Stdin = strings.NewReader(calls)
		}
		if out, err := cmd.CombinedOutput(); err != nil || words == "serve" && strings.Count(string(out), `"text":"hi"`) != 2 {
			t.Fatalf("mcpctl %s: %v\n%s", words, err, out)
		}
		if got := opens(); got != want {
			t.Errorf("mcpctl %s reads it %d times, want %d", words, got, want)
		}
	}
}

// watchOpens returns what tells how often a file has been opened since.
func watchOpens(t *testing.T, path string) func() int {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	// With the closings between, no two events are equal and counted as one.
	_, err = syscall.InotifyAddWatch(fd, path, syscall.IN_OPEN|syscall.IN_CLOSE)
	require.NoError(t, err)
	return func() (n int) {
		events := make([]byte, 64<<10)
		size, err := syscall.Read(fd, events)
		if err != nil && err != syscall.EAGAIN {
			t.Fatal(err)
		}
		for events = events[:max(size, 0)]; len(events) >= syscall.SizeofInotifyEvent; {
			if binary.NativeEndian.Uint32(events[4:])&syscall.IN_OPEN != 0 {
				n++
			}
			events = events[syscall.SizeofInotifyEvent+binary.NativeEndian.Uint32(events[12:]):]
		}
		return n
	}
}
