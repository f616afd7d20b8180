package policy_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/policy"
)

var spellingCases = flag.Int("spellings", 2_000, "how many URIs TestReaders makes")

// reading is what a program reads of a URI: scheme, host, port and path. Nil is for none.
type reading []string

// reader reads URIs as a program does, and names the program.
type reader struct {
	name string
	read func(uris []string) []reading
}

// child returns a reader in another process, that ends with the test.
func child(t *testing.T, program, script string) (r reader, ok bool) {
	t.Helper()
	found, err := exec.LookPath(program)
	if err != nil {
		t.Logf("there is no %s", program)
		return r, false
	}
	c := exec.CommandContext(t.Context(), found, script)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := c.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	lines := bufio.NewReaderSize(out, 1<<20)
	return reader{program, func(uris []string) (got []reading) {
		if err := json.NewEncoder(in).Encode(uris); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, &got); err != nil || len(got) != len(uris) {
			t.Fatalf("%s: %v", line, err)
		}
		return got
	}}, true
}

// each returns a reader that reads one URI after the other.
func each(name string, read func(uri string) reading) reader {
	return reader{name, func(uris []string) []reading {
		out := make([]reading, len(uris))
		for i, uri := range uris {
			out[i] = read(uri)
		}
		return out
	}}
}

func readGo(uri string) reading {
	u, err := url.Parse(uri)
	if err != nil {
		return nil
	}
	if u.Opaque != "" {
		return reading{u.Scheme, "", "", unescaped(u.Opaque)}
	}
	return reading{u.Scheme, u.Hostname(), u.Port(), u.Path}
}

func unescaped(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(e string) string {
		c, _ := strconv.ParseUint(e[1:], 16, 8)
		return string([]byte{byte(c)})
	})
}

// readPath takes all behind the scheme for a path, and the first name of a web page for its
// host.
func readPath(uri string) reading {
	scheme, rest, ok := strings.Cut(blanks.ReplaceAllString(uri, ""), ":")
	if !ok {
		return nil
	}
	rest, rooted := strings.CutPrefix(unescaped(rest), "//")
	rest = path.Clean(rest)
	if strings.EqualFold(scheme, "file") {
		return reading{scheme, "", "", localhost.ReplaceAllString(rest, "")}
	}
	if !rooted {
		return reading{scheme, "", "", rest}
	}
	host, rest, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(host, "?#") {
		return nil // which is no host
	}
	host, port, _ := strings.Cut(host[strings.LastIndexByte(host, '@')+1:], ":")
	return reading{scheme, host, port, "/" + rest}
}

// escapes are those of RFC 3986, localhost is a host that stands for none (RFC 8089), blanks is what WHATWG URL leaves out.
var (
	escapes   = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	localhost = regexp.MustCompile(`^(?i:localhost)?(:\d*)?/`)
	blanks    = regexp.MustCompile(`^[\x00-\x20]+|[\t\n\r]|[\x00-\x20]+$`)
)

// names returns what a reading names, in one form: a file is known by its path alone.
func (r reading) names() string {
	scheme, host, port, file := strings.ToLower(r[0]), strings.TrimSuffix(r[1], "."), r[2], r[3]
	host = strings.ToLower(host)
	switch {
	case scheme == "note" && host == "":
		return scheme + ":" + path.Clean(file)
	case scheme == "file":
		return scheme + "://" + path.Clean("/"+file)
	case port != "" && strings.TrimLeft(port, "0") != "443":
		host += ":" + port
	}
	return scheme + "://" + host + path.Clean("/"+file)
}

// below reports whether a reading is below one of some folders.
func (r reading) below(folders ...string) bool {
	name := strings.TrimSuffix(r.names(), "/") + "/"
	for _, f := range folders {
		if strings.HasPrefix(name, f) {
			return true
		}
	}
	return false
}

// spell returns a URI of one of some resources, or nearly, in some spelling.
func (c chance) spell() string {
	scheme := c.of("file", "https", "note")
	host := map[string]string{"file": "", "https": c.of("intranet.example", "h.example", "h.example", "pub.example"), "note": ""}[scheme]
	segments := strings.Split(c.of("D/priv/x", "D/priv/x", "D/pub/x", "priv/x", "priv/1", "pub/1"), "/")
	for range c.IntN(3) { // what leads away and back
		i := c.IntN(len(segments) + 1)
		detour := [][]string{{"."}, {"a", ".."}, {""}, {".."}, {"a?", ".."}, {"a#b", ".."}, {"a", "", ".."}, {"a?b", "c", "..", ".."}}[c.IntN(8)]
		segments = append(segments[:i:i], append(detour, segments[i:]...)...)
	}
	slash := func() string {
		if c.IntN(8) > 0 {
			return "/"
		}
		return c.of(`\`, "%2f", "%5C", "//", "/./", "%2F")
	}
	var b strings.Builder
	for i, s := range segments {
		if i > 0 {
			b.WriteString(slash())
		}
		b.WriteString(s)
	}
	authority := host
	if c.IntN(4) == 0 {
		authority = c.of("u@", "u:p@", "", "", "a@b@", "other.example", `other.example\@`, "/") + host + c.of("", ".", ":443", ":", ":80", ":00443", ".:443")
	}
	if scheme == "file" && c.IntN(4) == 0 {
		authority = c.of("localhost", "LOCALHOST", "other.example", "D", ".", "..", "127.0.0.1", "localhost:80", "u@localhost", "C:")
	}
	slashes := "//"
	if scheme == "note" {
		slashes = ""
	}
	if c.IntN(5) == 0 {
		slashes = c.of("", "/", "//", "///", `\\`, `/\`, "////", `\`)
	}
	text := scheme + ":" + slashes + authority
	if scheme != "note" || c.IntN(6) == 0 {
		text += slash()
	}
	text += b.String() + c.of("", "", "", "", "?q", "#f", "?a/../b", "/", "/.", "/..")
	for range c.IntN(3) {
		text = c.touch(text)
	}
	return text
}

// touch changes one character.
func (c chance) touch(text string) string {
	runes := []rune(text)
	i := c.IntN(len(runes))
	switch c.IntN(12) {
	case 0, 1, 2: // an escape
		if runes[i] < 0x80 {
			return string(runes[:i]) + "%" + hex(byte(runes[i]), c.IntN(2) == 0) + string(runes[i+1:])
		}
	case 3, 4:
		return string(runes[:i]) + strings.ToUpper(string(runes[i])) + string(runes[i+1:])
	case 5:
		return string(runes[:i]) + c.of("\t", "\n", "\r", " ", "\x00", "\x01", "%00", "%", "%2") + string(runes[i:])
	case 6:
		return string(runes[:i]) + c.of("/", `\`, "?", "#", ":", "@", ".", "%2e", "%252e", "|", ";", "é", "｡", "ｈ", "[", "]") + string(runes[i:])
	case 7:
		return c.of(" ", "\x00", "\n", "\u00a0") + text
	case 8:
		return text + c.of(" ", "\x00", "\n", "?", "#")
	case 9:
		return string(runes[:i]) + string(runes[i+1:])
	}
	return text
}

func hex(c byte, upper bool) string {
	const digits = "0123456789abcdef"
	text := string([]byte{digits[c>>4], digits[c&15]})
	if upper {
		return strings.ToUpper(text)
	}
	return text
}

// TestReaders: what Go, Node, Python or a program that takes a URI for a path reads as a
// resource that a rule denies is denied, and what is allowed is read by none of them as
// anything else.
func TestReaders(t *testing.T) {
	readers := []reader{each("net/url", readGo), each("a path", readPath)}
	for program, script := range map[string]string{"node": "testdata/readers.mjs", "python3": "testdata/readers.py"} {
		if r, ok := child(t, program, script); ok {
			readers = append(readers, r)
		}
	}
	denied := []string{"file:///D/priv/", "https://intranet.example/", "https://h.example/priv/", "note:priv/", "note://priv/"}
	allowed := []string{"file:///D/pub/", "https://pub.example/", "note:pub/", "note://pub/"}
	text := permitAll
	for i, folder := range denied {
		text += `@id("` + string(rune('b'+i)) + `") forbid (principal, action, resource in Label::"fs/` + folder + `**"); `
	}
	denies := compile(t, text).Snapshot(testServers, nil).View(alice)
	text = ""
	for i, folder := range allowed {
		text += `@id("` + string(rune('b'+i)) + `") permit (principal, action, resource in Label::"fs/` + folder + `**"); `
	}
	allows := compile(t, text).Snapshot(testServers, nil).View(alice)
	c := chance{rand.New(rand.NewPCG(*policySeed, 3))}
	var mustDeny, mayAllow, passed, faults int
	for left := *spellingCases; left > 0; left -= 1000 {
		uris := make([]string, min(left, 1000))
		for i := range uris {
			uris[i] = c.spell()
		}
		refused := make([]bool, len(uris))
		let := make([]bool, len(uris))
		for i, uri := range uris {
			it := policy.Item{Kind: policy.Resource, Server: "fs", Name: uri}
			visible, _ := denies.Unlisted(it)
			refused[i] = !visible
			let[i], _ = allows.Unlisted(it)
			if visible {
				passed++
			}
			if let[i] {
				mayAllow++
			}
		}
		counted := make([]bool, len(uris))
		for _, r := range readers {
			for i, got := range r.read(uris) {
				if got == nil {
					continue
				}
				if name := got.names(); got.below(denied...) && !slices.Contains(denied, strings.TrimSuffix(name, "/")+"/") {
					if !counted[i] {
						counted[i] = true
						mustDeny++
					}
					if !refused[i] {
						faults++
						t.Errorf("%q is not denied, and %s reads it as %s", uris[i], r.name, name)
					}
				}
				if let[i] && !got.below(allowed...) {
					faults++
					t.Errorf("%q is allowed, and %s reads it as %s", uris[i], r.name, got.names())
				}
			}
		}
		if faults > 40 {
			break
		}
	}
	t.Logf("of %d URIs %d had to be denied, %d were not denied, %d were allowed", *spellingCases, mustDeny, passed, mayAllow)
}
