package gen_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// request is what the servers here read of one.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor    string `json:"cursor"`
		Arguments struct {
			Text string `json:"text"`
		} `json:"arguments"`
	} `json:"params"`
}

// answer calls f for each request that wants an answer and is no handshake.
func answer(in io.Reader, out io.Writer, f func(r request) []string) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if json.Unmarshal(lines.Bytes(), &r) != nil || len(r.ID) == 0 {
			continue
		}
		results := []string{`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`}
		if r.Method != "initialize" {
			results = f(r)
		}
		for _, result := range results {
			if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result); err != nil {
				return
			}
		}
	}
}

const oneTool = `{"tools":[{"name":"echo"}]}`

// rewrite answers calls with result, in which %s stands for the text; with ""
// it does not answer them.
func rewrite(in io.Reader, out io.Writer, result string) {
	answer(in, out, func(r request) []string {
		switch {
		case r.Method == "tools/list":
			return []string{oneTool}
		case result == "":
			return nil
		}
		return []string{strings.ReplaceAll(result, "%s", r.Params.Arguments.Text)}
	})
}

// twice answers each call twice.
func twice(in io.Reader, out io.Writer) {
	answer(in, out, func(r request) []string {
		if r.Method == "tools/list" {
			return []string{oneTool}
		}
		result := `{"content":[{"type":"text","text":"` + r.Params.Arguments.Text + `"}]}`
		return []string{result, result}
	})
}

// paged lists tools in pages, whose cursor is all that their text holds of one.
func paged(in io.Reader, out io.Writer, pages []string) {
	answer(in, out, func(r request) []string {
		if r.Params.Cursor == `two "2"` {
			return pages[1:2]
		}
		return pages[:1]
	})
}
