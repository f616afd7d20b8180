//go:build unix

package main_test

import (
	"strings"
	"testing"
)

// TestServeHooks: each change of serve.hooks counts at once and without a restart, what is
// broken leaves what was there before, and no pattern is in the log.
func TestServeHooks(t *testing.T) {
	t.Parallel()
	s := serveStdio(t, entries("a b"))
	const ask = `{"message":"canary-81 and more"}`
	answers := func(tool, want string) func() bool {
		return func() bool {
			return strings.Contains(s.call("tools/call", `{"name":"`+tool+`","arguments":`+ask+`}`), want)
		}
	}
	if !answers("a__echo", `"canary-81 and more"`)() {
		t.Fatal("there is a hook without configuration")
	}
	s.alongside("config.yaml", "serve: {hooks: [{name: birds, tools: ['a__*'], match: {in: arguments, pattern: 'canary-\\d+'}, action: block}]}\n")
	s.until("a is blocked", answers("a__echo", `"hook":"birds"`))
	if !answers("b__echo", `"canary-81 and more"`)() {
		t.Error("b is blocked, too")
	}
	s.alongside("config.yaml", "serve: {hooks: [{name: birds, match: {in: result, pattern: 'canary-\\d+'}, action: redact}]}\n")
	s.until("a is redacted", answers("a__echo", `"[birds removed] and more"`))
	if !answers("b__echo", `"[birds removed] and more"`)() {
		t.Error("b is not")
	}
	s.alongside("config.yaml", "serve: {hooks: [{name: birds, match: {in: result, pattern: 'canary-[0'}, action: redact}]}\n")
	s.until("the fault is said", func() bool {
		return strings.Contains(s.said(), "the hooks cannot be used: what they said before stays")
	})
	if said := s.said(); !strings.Contains(said, "config.yaml:1:60: ") || strings.Count(said, "the hooks cannot be used") != 1 {
		t.Errorf("no line with the place, or several: %s", said)
	}
	if !answers("a__echo", `"[birds removed] and more"`)() {
		t.Error("what counted before does not count")
	}
	s.alongside("config.yaml", "serve: {}\n")
	s.until("nothing looks any more", answers("a__echo", `"canary-81 and more"`))
	if said := s.said(); strings.Contains(said, "settings have changed") || strings.Contains(said, "canary-") {
		t.Errorf("a change of hooks needs no restart, and a pattern is in no log: %s", said)
	}
}
