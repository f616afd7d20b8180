package policy

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseURI(t *testing.T) {
	for in, want := range map[string]string{ // ! is in front of ambiguous ones
		"file:///x": "file:///x", "FILE:///x": "file:///x", "file://Host/x": "file://host/x", "file:/etc/../data": "file:///data", "file://LOCALHOST/x": "file:///x",
		"file:///data/../etc": "file:///etc", "file:///data/%2e%2e/etc": "file:///etc", "file:///data/.%2E/etc": "file:///etc",
		"file:///data/./x": "file:///data/x", "file:///data/..": "file:///", "file:///../../etc": "file:///etc", "file:///data/.": "file:///data/",
		"file:///d%61ta/x": "file:///data/x", "http://h/a%2fb": "http://h/a%2Fb", "http://h/a?b=../c": "http://h/a?b=../c", "http://h/a?b=/../c": "!http://h/a?b=/../c",
		"file:///a//../b": "!file:///a/b", "file:///a//b/": "file:///a/b/", "http://h/a//b": "http://h/a//b", "http://h//": "http://h//", "http://h/a//../b": "!http://h/a/b",
		"ui://app/main": "ui://app/main", "urn:a:b": "urn:a:b", "http://h/a b": "http://h/a%20b", "http://h/\u00e9": "http://h/%C3%A9", "http://h/%c3%a9": "http://h/%C3%A9",
		"http://Alice@Host/x": "http://Alice@host/x", "HTTP://h:080": "http://h/", "http://h:8080?x": "http://h:8080/?x", "note://Host": "note://host", "note://h:80": "note://h:80",
		"file:///data/..%2f..%2fetc": "!file:///data/..%2F..%2Fetc", "file:///data%2fsecret": "!file:///data%2Fsecret", `file:///data\..\etc`: `!file:///data%5C..%5Cetc`,
		"http://h/a/..%2fb": "!http://h/a/..%2Fb", `http://h/a\b`: `!http://h/a%5Cb`, "file:///a%00b": "!file:///a%00b", "file:///a\x00b": "!file:///a%00b", "file:///a%zz": "!file:///a%25zz",
		"file:///a%2": "!file:///a%252", "http://h/a\nb": "!http://h/ab", " http://h/a": "!http://h/a", "http:h/a": "!http:h/a", "http://0x7f.1/": "!http://0x7f.1/", "http://127.0.0.1/": "http://127.0.0.1/",
		"http://[::1]:80/": "http://[::1]/", "http://[0:0::1]/": "!http://[0:0::1]/", "readme": "", "../etc": "", "": "", ":x": "", "1:x": "",
	} {
		u, ok := ParseURI(in)
		got := u.Normal
		if u.Ambiguous {
			got = "!" + got
		}
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v, want %q", in, got, ok, want)
		}
	}
}

// FuzzParseURI: a normal form is its own, and a file URI names the same file of a tree as one of
// its forms, as a program finds it that takes escapes out first.
func FuzzParseURI(f *testing.F) {
	for _, s := range []string{"/a/../b", "/a/%2e%2e/b", "/a/./b", "//a/b", "/a/b/", "/%61/b", `/a\b`, "/a/..%2fb", "/b/.%2e"} {
		f.Add(s)
	}
	root := f.TempDir()
	for _, dir := range []string{"a/b/a", "b/a/b", "a/a", "b/b"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, ok := ParseURI("file://" + path)
		if !ok {
			t.Fatalf("%q has no form", path)
		}
		if again, _ := ParseURI(u.Normal); again.Normal != u.Normal {
			t.Fatalf("%q becomes %q, and that %q", path, u.Normal, again.Normal)
		}
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#") {
			return
		}
		was, err := os.Stat(root + "/" + unescaped(path))
		if err != nil || !strings.HasPrefix(realPath(t, root+"/"+unescaped(path)), root) || climbs(unescaped(path)) {
			return // not there, or above the tree, where a URI's path ends and a file's goes on
		}
		for _, form := range append(u.Others, u.Normal) {
			is, err := os.Stat(root + unescaped(strings.TrimPrefix(form, "file://")))
			if err == nil && os.SameFile(was, is) {
				return
			}
		}
		t.Fatalf("%q is not the file of %+v", path, u)
	})
}

func unescaped(path string) string {
	out, err := url.PathUnescape(path)
	if err != nil {
		return "\x00"
	}
	return out
}

// climbs reports whether a path leads above its root on the way.
func climbs(path string) bool {
	depth := 0
	for s := range strings.SplitSeq(path, "/") {
		switch s {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	out, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return out
}
