package eras_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/test/wire"
)

// line is one line of the matrix: one check, for every pair.
type line struct {
	name, title string
	check       func(p *pair)
	// impossible returns why the protocol leaves nothing to do for a pair, ""
	// where it does. Where refused is set, the pair is still checked: for a
	// clear refusal.
	impossible func(f endpoint, b backend) string
	refused    func(p *pair)
}

// lines are those of the matrix, in the order they run: what ends connections
// is last.
func lines() []line {
	return slices.Concat(basicLines(), flowLines(), questionLines(), changeLines(), taskLines(), nameLines(), stateLines(), viewLines(), searchLines(), lastLines())
}

// failure is what a check panics with where it fails; see attempt.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func failf(format string, a ...any) { check(fmt.Errorf(format, a...)) }

func failIf(wrong bool, format string, a ...any) {
	if wrong {
		failf(format, a...)
	}
}

// wrap says what an error is about.
func wrap(err error, about string, a ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(about+": %w", append(a, err)...)
}

// attempt runs a check and returns how it fails.
func attempt(do func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	do()
	return nil
}

// Reasons, each with its source.
const (
	noSession     = "A client without a session has declared no capabilities, and has no stream for questions. Capabilities come from `initialize` and belong to a session (2025-11-25, Lifecycle; Streamable HTTP, Session Management). The server's question is refused with a clear error."
	noStream      = "Without a session there is no stream for messages outside of requests: GET needs the session's id (2025-11-25, Streamable HTTP, Listening for Messages)."
	backStream    = "This backend has no stream for messages outside of requests: without a session it answers GET with 405, so it cannot notify (2025-11-25, Streamable HTTP, Listening for Messages)."
	backMute      = "A server of 2026-07-28 sends no requests: it asks only in results (2026-07-28, Multi round-trip requests)."
	noState       = "requestState exists only between clients and servers of 2026-07-28 (2026-07-28, Multi round-trip requests)."
	endpointState = "A client of the handshake era is asked within its call and is given no state (2025-11-25, Elicitation)."
)

func needsSession(f endpoint, _ backend) string {
	if !f.session && !f.modern {
		return noSession
	}
	return ""
}

// same returns how a result differs from what it should be, but for what hops
// and eras may add.
func same(got, want json.RawMessage) error {
	a, err := normal(got)
	if err != nil {
		return fmt.Errorf("%w: %.300s", err, got)
	}
	b, err := normal(want)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("got %.600s, want %.600s", got, want)
	}
	return nil
}

// normal decodes a result, numbers as they are written, without grease and
// without what is the protocol's own.
func normal(raw json.RawMessage) (any, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if m, ok := v.(map[string]any); ok {
		for _, k := range []string{"resultType", "ttlMs", "cacheScope"} {
			delete(m, k)
		}
		if meta, ok := m["_meta"].(map[string]any); ok {
			for k := range meta {
				if strings.HasPrefix(k, metaPrefix) || strings.HasPrefix(k, "dev.mcpctl/") {
					delete(meta, k)
				}
			}
			delete(meta, "x-grease")
			if len(meta) == 0 {
				delete(m, "_meta")
			}
		}
	}
	return ungrease(v), nil
}

func decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func ungrease(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "x-grease")
		for _, e := range v {
			ungrease(e)
		}
	case []any:
		for _, e := range v {
			ungrease(e)
		}
	}
	return v
}

// at follows members of a raw object, nil where there is none.
func at(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil {
			return nil
		}
		raw = m[name]
	}
	return raw
}

func str(raw json.RawMessage, path ...string) string {
	var s string
	_ = json.Unmarshal(at(raw, path...), &s)
	return s
}

// text joins the text blocks of a result.
func text(raw json.RawMessage) string {
	var r struct {
		Content []struct{ Text string }
	}
	_ = json.Unmarshal(raw, &r)
	var out string
	for _, b := range r.Content {
		out += b.Text
	}
	return out
}

// wantText checks that a result has a text, and is no error.
func wantText(raw json.RawMessage, err error, want string) error {
	if err != nil {
		return err
	}
	if text(raw) != want || string(at(raw, "isError")) == "true" {
		return fmt.Errorf("got %.300s, want the text %q", raw, want)
	}
	return nil
}

// wantCode checks for a JSON-RPC error of a code.
func wantCode(raw json.RawMessage, err error, codes ...int) error {
	var e *wire.RPCError
	switch {
	case err == nil:
		return fmt.Errorf("got %.300s, want an error %v", raw, codes)
	case !errors.As(err, &e) || !slices.Contains(codes, e.Code):
		return fmt.Errorf("want an error %v: %w", codes, err)
	}
	return nil
}

// wantTrouble checks for something that a person can read: a JSON-RPC error or a
// result with isError, with words in it.
func wantTrouble(raw json.RawMessage, err error, words ...string) error {
	var e *wire.RPCError
	said := ""
	switch {
	case errors.As(err, &e):
		said = e.Message + string(e.Data)
	case err != nil:
		return err
	case string(at(raw, "isError")) == "true":
		said = text(raw)
	default:
		return fmt.Errorf("got %.300s, want an error", raw)
	}
	for _, w := range words {
		if strings.Contains(strings.ToLower(said), w) {
			return nil
		}
	}
	return fmt.Errorf("the error says %q, want one of %q in it", said, words)
}

// wantEra checks for the members that a complete result has in the client's era,
// and none of the other's.
func wantEra(p *pair, raw json.RawMessage, cached bool) error {
	for _, k := range []string{"resultType", "ttlMs", "cacheScope"} {
		has := at(raw, k) != nil
		want := p.endpoint.modern && (k == "resultType" || cached)
		if has != want {
			return fmt.Errorf("member %s: got %t, want %t in %.200s", k, has, want, raw)
		}
	}
	if p.endpoint.modern && str(raw, "resultType") != "complete" {
		return fmt.Errorf("resultType is %s", at(raw, "resultType"))
	}
	return nil
}
