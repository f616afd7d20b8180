package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// oddhttp serves the fake server over HTTP at $FAKE, except that one method is answered
// with a status, a header and a body that the words say; ID in the body is the request's:
//
//	oddhttp METHOD STATUS [NAME: VALUE]... BODY
//
// METHOD may be * for all.
func oddhttp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: oddhttp METHOD STATUS [NAME: VALUE]... BODY")
	}
	status, err := strconv.Atoi(args[1])
	ts.Check(err)
	usual := runtimetest.New().Handler(runtimetest.HTTPOptions{})
	serve(ts, "FAKE", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var m struct {
			Method string
			ID     json.RawMessage
		}
		if err != nil || json.Unmarshal(raw, &m) != nil || args[0] != "*" && m.Method != args[0] {
			r.Body = io.NopCloser(bytes.NewReader(raw))
			usual.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		for _, h := range args[2 : len(args)-1] {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(args[len(args)-1], "ID", string(m.ID)))
	}))
}
