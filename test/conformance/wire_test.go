package main

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

var update = flag.Bool("update", false, "rewrite testdata/sse")

// TestSSEWire records what the everything-server says in a session over
// HTTP+SSE where a scenario of the newest revision cannot pass, so that
// expected.txt rests on more than a failure: see there.
//
//	go test ./test/conformance -run TestSSEWire -update
func TestSSEWire(t *testing.T) {
	program, err := buildEverything(t.Context(), t.TempDir())
	require.NoError(t, err)
	p, err := start(t.Context(), io.Discard, "URL ", nil, program, "-http", "127.0.0.1:0")
	require.NoError(t, err)
	defer p.Stop()
	got := session(t, p.URL,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"recorder","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test_input_required_result_elicitation","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":ID,"result":{"action":"accept","content":{"name":"Alice"}}}`,
	)
	path := filepath.Join("testdata", "sse", "input-required-result-basic-elicitation.txt")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("(-recorded +now)\n%s", d)
	}
}

var idRE = regexp.MustCompile(`"id":("[^"]*"|\d+)`)

// session sends messages to the server, each after what the one before has
// brought, and returns the lines that went to and fro. ID in a message is that of
// the server's last request.
func session(t *testing.T, url string, messages ...string) string {
	t.Helper()
	client := &http.Client{Timeout: time.Until(wait.Deadline(t))}
	resp, err := client.Get(url + "sse")
	require.NoError(t, err)
	defer resp.Body.Close()
	stream := bufio.NewScanner(resp.Body)
	next := func() string {
		for stream.Scan() {
			if data, ok := strings.CutPrefix(stream.Text(), "data: "); ok {
				return data
			}
		}
		t.Fatalf("the stream has ended: %v", stream.Err())
		return ""
	}
	endpoint := next()
	if strings.HasPrefix(endpoint, "/") {
		endpoint = strings.TrimSuffix(url, "/") + endpoint
	} else if strings.HasPrefix(endpoint, "?") {
		endpoint = url + "sse" + endpoint
	}
	var out bytes.Buffer
	id := ""
	for _, m := range messages {
		m = strings.Replace(m, `"id":ID`, id, 1)
		out.WriteString("client: " + m + "\n")
		post, err := client.Post(endpoint, "application/json", strings.NewReader(m))
		require.NoError(t, err)
		_ = post.Body.Close()
		if post.StatusCode/100 != 2 {
			t.Fatalf("POST %s: %s", m, post.Status)
		}
		if !strings.Contains(m, `"id":`) {
			continue
		}
		answer := next()
		id = idRE.FindString(answer)
		out.WriteString("server: " + answer + "\n")
	}
	return out.String()
}
