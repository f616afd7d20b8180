package proc

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/secret"
)

// TestTailWithoutCredentials: wherever what is kept of standard error begins, and
// however it is cut into lines and pieces, no part of a credential is shown.
func TestTailWithoutCredentials(t *testing.T) {
	t.Parallel()
	const token = "tok-0123456789abcdefghijklmnopqrstuvwxyz"
	r := secret.NewRedactor(secret.New(token))
	for shift := range 2 * len(token) {
		for name, filler := range map[string]string{"one line": "x", "lines": "x\n"} {
			var log bytes.Buffer
			tl := NewStderrTail(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), r, func() {})
			// The token is where the kept part begins, or a little before or after.
			text := token + strings.Repeat(filler, (tailSize+r.Longest()-shift)/len(filler))
			tl.Drain(strings.NewReader(text))
			if got := tl.Last(); strings.Contains(got, "vwxyz") || got == "" {
				t.Fatalf("%s, %d: it begins with %.60q", name, shift, got)
			}
			if strings.Contains(log.String(), "vwxyz") {
				t.Fatalf("%s, %d: the log has %.200s", name, shift, log.String())
			}
		}
	}
	for cut := 1; cut < len(token); cut++ {
		var log bytes.Buffer
		tl := NewStderrTail(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), r, func() {})
		for _, piece := range []string{"before " + token[:cut], token[cut:] + " after\n", "key " + token[:cut] + "\n", token[cut:] + "\n", "\x1b[1m" + token[:cut] + "\x1b[0m" + token[cut:] + "\n"} {
			tl.keep([]byte(piece))
		}
		for what, got := range map[string]string{"tail": tl.Last(), "log": log.String()} {
			// A piece of three bytes tells nothing.
			if strings.Contains(got, token[:4]) || strings.Contains(got, token[len(token)-4:]) || !strings.Contains(got, "before [redacted] after") {
				t.Errorf("%s, cut at %d: %s", what, cut, got)
			}
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                              "plain",
		"\x1b[1;31mError:\x1b[0m no\r\n":     "Error: no",
		"10%\r50%\rdone\r\n":                 "done",
		"a\tb\x00c\x07":                      "a bc",
		"\x1b]0;title\atext":                 "text",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;": "link",
		"\x1bPq#0\x1b\\x\x1b(B":              "x",
		"left\x1b[":                          "left",
		"left\x1b":                           "left",
		"a\u202eb\u2066c\u0085d\u2028":       "abcd",
		"\xff\xfe":                           "\uFFFD",
		"a\u200bb\u200cc\u200dd\u2060e":      "abcde",
		"a\u00ad\u034f\u115f\u1160\u061cb":   "ab",
		"a\u180e\u3164\uffa0\ufeff\ufe0fb":   "ab",
		"a\u2061\u2064\U000e0041\U000e0100b": "ab",
		"a\u009b31mb":                        "ab",
		"a\nb":                               "a b",
		"漢字 العربية עברית e\u0301 ❤\ufe0f": "漢字 العربية עברית e\u0301 ❤\ufe0f",
		"":           "",
		"  indented": "  indented",
	} {
		if got := StderrLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	long := make([]byte, 3000)
	for i := range long {
		long[i] = "ä"[i%2]
	}
	if got := StderrLine(string(long)); len(got) > lineSize+len("…") {
		t.Errorf("%d bytes", len(got))
	}
}

// TestTellingLine: what is shown of the last words of programs in several
// languages.
func TestTellingLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "one": "one", "one\ntwo": "two",
		"throw err;\n^\nError: Cannot find module '/x.js'\n    at f (a.js:1)\n{ code: 'X' }\nNode.js v20.1.0":            "Error: Cannot find module '/x.js'",
		"TypeError [ERR_X]: bad\n    at g\nNode.js v22.0.0":                                                              "TypeError [ERR_X]: bad",
		"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nModuleNotFoundError: No module 'mcp'": "ModuleNotFoundError: No module 'mcp'",
		"panic: no key\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1d\nexit status 2":                           "panic: no key",
		"fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1":                                              "fatal error: all goroutines are asleep - deadlock!",
		"Exception in thread \"main\" java.lang.X\n\tat A.main(A.java)\njava.io.IOException: gone\n\tat B":               "java.io.IOException: gone",
		"[info] error: none\nlistening": "listening",
		"npm error code E1\nnpm error errno -28\nnpm error E1: no space\nnpm error more\nnpm error A complete log of this run can be found in: /l": "npm error E1: no space",
		"npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://r/x\nnpm ERR! 404 \n":                                                            "npm ERR! 404 Not Found - GET https://r/x",
		"error:\nlast":                                                 "last",
		"no errors found in this: text\ndone":                          "done",
		"error: could not connect\nusage: server [options]":            "error: could not connect",
		"the previous error: is a phrase of several words\nlast words": "last words",
	} {
		if got := TellingLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
