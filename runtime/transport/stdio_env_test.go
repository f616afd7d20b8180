package transport

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEnvironment: a server gets the small set and what its entry says, which
// wins; no secret of ours, and no function of the shell's.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		system string
		ours   []string
		add    map[string]string
		want   []string
	}{
		"Linux": {
			"linux",
			[]string{
				"PATH=/bin", "HOME=/home/a", "LC_CTYPE=C", "LC=x", "XDG_RUNTIME_DIR=/run", "AWS_SECRET_ACCESS_KEY=s3cret", "GITHUB_TOKEN=t", "MCPCTL_HEADER=h",
				"https_proxy=http://p:1", "SSH_AUTH_SOCK=/s", "Path=/x", "SHELL=() { evil; }", "NONSENSE", "=x", "MCPCTL_GUARD=0.1", "LD_PRELOAD=x", "NODE_OPTIONS=x",
			},
			map[string]string{"TOKEN": "mine", "HOME": "/other", "EMPTY": ""},
			[]string{"EMPTY=", "HOME=/other", "LC_CTYPE=C", "MCPCTL_GUARD=0.1", "PATH=/bin", "TOKEN=mine", "XDG_RUNTIME_DIR=/run", "https_proxy=http://p:1"},
		},
		"Windows": {
			"windows",
			[]string{"Path=C:\\", "SystemRoot=C:\\Windows", "=C:=C:\\x", "ProgramFiles(x86)=C:\\P", "HOME=x", "Secret=x", "TEMP=C:\\T", "ComSpec=c"},
			map[string]string{"temp": "C:\\U", "PATH": "D:\\"},
			[]string{"ComSpec=c", "PATH=D:\\", "ProgramFiles(x86)=C:\\P", "SystemRoot=C:\\Windows", "temp=C:\\U"},
		},
		"nothing": {"linux", nil, nil, []string{}},
	} {
		got := environment(c.system, c.ours, c.add)
		if got == nil {
			t.Errorf("%s: nil would stand for everything", name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCleanLine(t *testing.T) {
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
		if got := cleanLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	long := make([]byte, 3000)
	for i := range long {
		long[i] = "ä"[i%2]
	}
	if got := cleanLine(string(long)); len(got) > stderrLine+len("…") {
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
		"[info] error: none\nlistening":                                "listening",
		"error:\nlast":                                                 "last",
		"no errors found in this: text\ndone":                          "done",
		"error: could not connect\nusage: server [options]":            "error: could not connect",
		"the previous error: is a phrase of several words\nlast words": "last words",
	} {
		if got := tellingLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
