package policy

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go/types"
)

const testSchema = `{"type":"object","properties":{
 "i":{"type":"integer"},"n":{"type":"number"},"s":{"type":"string"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"string"}},
 "o":{"type":"object","properties":{"p":{"type":"integer"},"q":{"type":"object","properties":{"r":{"type":"string"}}}}},
 "e":{"enum":["a","b"]},"m":{"type":["string","null"]},"u":{"anyOf":[{"type":"string"},{"type":"integer"}]},"r":{"$ref":"#/$defs/money"},"any":{}},
 "$defs":{"money":{"type":"number"}}}`

// what reads one member and returns it in Cedar, "absent", or what is wrong.
func what(t testing.TB, form Form, name, arguments string) string {
	t.Helper()
	values, err := New([]ReadArguments{{Form: form, Path: strings.Split(name, ".")}}, []byte(testSchema)).Read([]byte(arguments))
	if err != nil {
		return err.Error()
	}
	var v types.Value = types.NewRecord(values[form])
	for name := range strings.SplitSeq(name, ".") {
		record, ok := v.(types.Record)
		if !ok {
			return "absent"
		}
		if v, ok = record.Get(types.String(name)); !ok {
			return "absent"
		}
	}
	return string(v.MarshalCedar())
}

func TestExact(t *testing.T) {
	const no = "argument /%s cannot be checked"
	for _, c := range []struct{ name, arguments, want string }{
		{"i", `{"i":500}`, `500`},
		{"i", `{"i":5e2}`, `500`},
		{"i", `{"i":5E+2}`, `500`},
		{"i", `{"i":500.0}`, `500`},
		{"i", `{"i":50000e-2}`, `500`},
		{"i", `{"i":-0}`, `0`},
		{"i", `{"i":0e999999999999}`, `0`},
		{"i", `{"i":9223372036854775807}`, `9223372036854775807`},
		{"i", `{"i":-9223372036854775808}`, `-9223372036854775808`},
		{"i", `{"i":9223372036854775808}`, no},
		{"i", `{"i":-9223372036854775809}`, no},
		{"i", `{"i":18446744073709552116}`, no},
		{"i", `{"i":123456789012345678901234567890}`, no},
		{"i", `{"i":1e19}`, no},
		{"i", `{"i":2e19}`, no},
		{"i", `{"i":20000000000000000000}`, no},
		{"i", `{"i":1e400}`, no},
		{"i", `{"i":1e99999999999}`, no},
		{"i", `{"i":500.5}`, no},
		{"i", `{"i":500.00000000000000000000001}`, no},
		{"i", `{"i":"500"}`, no},
		{"i", `{"i":true}`, no},
		{"i", `{"i":[500]}`, no},
		{"i", `{"i":{"":500}}`, no},
		{"i", `{"i":null}`, `absent`},
		{"i", `{}`, `absent`},
		{"i", ``, `absent`},
		{"i", `null`, `absent`},
		{"i", `{"j":500}`, `absent`},
		{"i", `{"i":1,"i":2}`, no},
		{"i", `{"i":1,"i":1}`, no},
		{"i", `{"i":1,"i":null}`, no},
		{"i", `{"i":null,"i":1}`, no},
		{"i", `{"i":1,"\u0069":2}`, no},
		{"i", `{"\u0069":2}`, `2`},
		{"i", `{"I":1}`, no},
		{"i", `{"i":1,"I":2}`, no},
		{"i", `{"i":1,"\u0049":2}`, no},
		{"s", `{"ſ":"x"}`, no}, // the long s is an s without case
		{"i", ` { "i" : 7 } `, `7`},
		{"n", `{"n":500}`, `decimal("500.0")`},
		{"n", `{"n":500.0001}`, `decimal("500.0001")`},
		{"n", `{"n":500.00009}`, no},
		{"n", `{"n":500.00001}`, no},
		{"n", `{"n":500.00010}`, `decimal("500.0001")`},
		{"n", `{"n":5e-4}`, `decimal("0.0005")`},
		{"n", `{"n":5e-5}`, no},
		{"n", `{"n":-922337203685477.5808}`, `decimal("-922337203685477.5808")`},
		{"n", `{"n":922337203685477.5808}`, no},
		{"n", `{"n":"1.5"}`, no},
		{"r", `{"r":1.5}`, `decimal("1.5")`},
		{"r", `{"r":2}`, `decimal("2.0")`},
		{"s", `{"s":"a\u00e9\n"}`, `"aé\n"`},
		{"s", `{"s":"\ud83d\ude00"}`, "\"\U0001f600\""},
		{"s", `{"s":"\ud800"}`, no},
		{"s", `{"s":"\udc00\ud800"}`, no},
		{"s", "{\"s\":\"\xff\"}", "argument  cannot be checked"},
		{"s", `{"s":5}`, no},
		{"b", `{"b":true}`, `true`},
		{"b", `{"b":"true"}`, no},
		{"b", `{"b":1}`, no},
		{"l", `{"l":[]}`, `[]`},
		{"l", `{"l":["a","a"]}`, `["a"]`},
		{"l", `{"l":["a",1]}`, no},
		{"l", `{"l":["a",null]}`, no},
		{"l", `{"l":"a"}`, no},
		{"o.p", `{"o":{"p":3}}`, `3`},
		{"o.p", `{"o":{"p":3,"p":4}}`, "argument /o/p cannot be checked"},
		{"o.p", `{"o":{"P":3}}`, "argument /o/p cannot be checked"},
		{"o.p", `{"O":{"p":3}}`, "argument /o cannot be checked"},
		{"o.p", `{"o":3}`, "argument /o cannot be checked"},
		{"o.p", `{"o":{}}`, `absent`},
		{"o.p", `{"o":null}`, `absent`},
		{"o.p", `{}`, `absent`},
		{"o", `{"o":{"p":3,"q":{"r":"x"}}}`, `{"p":3, "q":{"r":"x"}}`},
		{"o", `{"o":{"p":3,"p":4}}`, no},
		{"o", `{"o":{"p":3,"P":4}}`, no},
		{"o", `{"o":{"q":{"r":"x","r":"y"}}}`, no},
		{"o", `{"o":{"p":"3"}}`, no},
		{"e", `{"e":"a"}`, `"a"`},
		{"e", `{"e":1}`, no},
		{"m", `{"m":"x"}`, `"x"`},
		{"m", `{"m":null}`, `absent`},
		{"m", `{"m":1}`, no},
		{"u", `{"u":"x"}`, `"x"`},
		{"u", `{"u":1}`, `1`},
		{"u", `{"u":1.5}`, no},
		{"any", `{"any":1.5}`, `decimal("1.5")`},
		{"any", `{"any":15}`, `15`},
		{"unheard", `{"unheard":"x"}`, `"x"`},
		{"i", `[]`, "argument  cannot be checked"},
		{"i", `"x"`, "argument  cannot be checked"},
	} {
		want := strings.ReplaceAll(c.want, "%s", c.name)
		if got := what(t, Raw, c.name, c.arguments); got != want {
			t.Errorf("%s of %s: got %s, want %s", c.name, c.arguments, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	nested := func(n int) string {
		return `{"any":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	long := func(n int) string { return `{"s":"` + strings.Repeat("x", n) + `"}` }
	const no = "cannot be checked"
	for _, c := range []struct {
		name, member, arguments string
		ok                      bool
	}{
		{"depth 32", "any", nested(31), true},
		{"depth 33", "any", nested(32), false},
		{"depth 9,000", "any", nested(9000), false},
		{"depth of what nobody reads", "s", nested(9000), true},
		{"64 KiB", "s", long(64<<10 - 2), true},
		{"more", "s", long(64<<10 - 1), false},
		{"more that nobody reads", "i", long(1 << 20), true},
	} {
		got := what(t, Raw, c.member, c.arguments)
		if strings.HasSuffix(got, no) == c.ok {
			t.Errorf("%s: %.60s", c.name, got)
		}
	}
}

// TestHostileSchema: schemas that refer to each other, and a value of many parts, take no
// time.
func TestHostileSchema(t *testing.T) {
	refs := strings.Repeat(`{"$ref":"#"},`, 50) + `{"$ref":"#/properties/x"}`
	schema := `{"anyOf":[` + refs + `],"allOf":[` + refs + `],"properties":{"x":{"oneOf":[` + refs + `]}}}`
	arguments := `{"x":[` + strings.Repeat(`{"x":{"x":1}},`, 4000) + `1]}`
	values, err := New([]ReadArguments{{Path: []string{"x"}}}, []byte(schema)).Read([]byte(arguments))
	if err != nil || values[Raw]["x"].(types.Set).Len() != 2 {
		t.Errorf("%v %v", values, err)
	}
	many := `{"x":{` + strings.Repeat(`"a":1,`, 20_000) + `"b":1}}`
	if _, err = New([]ReadArguments{{Path: []string{"x"}}}, []byte(schema)).Read([]byte(many)); err == nil {
		t.Error("a value of 120 KB is read")
	}
}

func TestHas(t *testing.T) {
	reads := []ReadArguments{{Path: []string{"s"}, Has: true}, {Path: []string{"o", "p"}, Has: true}}
	for arguments, want := range map[string]string{
		`{"s":5,"o":{"p":[]}}`: `{"o":{"p":true}, "s":true}`,
		`{"s":null,"o":{}}`:    `{"o":{}}`,
		`{"o":null}`:           `{}`,
		`{"S":1}`:              "argument /s cannot be checked",
		`{"s":1,"s":1}`:        "argument /s cannot be checked",
		`{"o":1}`:              "argument /o cannot be checked",
	} {
		values, err := New(reads, []byte(testSchema)).Read([]byte(arguments))
		got := string(types.NewRecord(values[Raw]).MarshalCedar())
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", arguments, got, want)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for in, want := range map[string]string{
		"/data/x": "/data/x", "/data/../etc": "/etc", "/data/./x/": "/data/x", "//data//x": "/data/x", "/..": "/", "/../../etc": "/etc",
		"a/b": "a/b", "./a": "a", "a/..": ".", "": ".", "/data/...": "/data/...", "/data/..x": "/data/..x", "/a%b": "/a%b", "/100%": "/100%",
		`C:\data\x`: "c:/data/x", "c:/Data/../etc": "c:/etc", `C:\data\..\..\x`: "c:/x",
		// Programs read these as different paths.
		"..": "-", "../etc": "-", "a/../../etc": "-", `/data\..\etc`: "-", `\etc\passwd`: "-", `\\host\share`: "-", "/data/%2e%2e/etc": "-", "/data/%2E./etc": "-",
		"%2fetc": "-", "/%65tc": "-", "/data/\x00": "-", "~/x": "-", "./~": "-", "./~/x": "-", "./file:/x": "-", "./C:/x": "-", "x/../../a": "-", "~root/x": "-", "file:///etc/passwd": "-", "FILE:/etc": "-", "C:data": "-", `C:\data.\x`: "-", `C:\data \x`: "-",
		`C:\PROGRA~1\x`: "-", `C:\x::$DATA`: "-", "C:": "-", "/data/%252e%252e/etc": "-",
	} {
		got, ok := CleanPath(in)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestHostOf(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.com/x": "example.com", "HTTPS://EXAMPLE.com": "example.com", "https://example.com.": "example.com", "https://example.com:443/": "example.com",
		"https://example.com:8443?x": "example.com", "http://a@b": "b", "http://a:p@b:80/": "b", "http://example.com#@evil.example": "example.com", "http://example.com?@evil.example": "example.com",
		"http://example.com/@evil.example": "example.com", "http://example.com:": "example.com",
		"http://127.0.0.1": "127.0.0.1", "http://0x7f.1": "127.0.0.1", "http://2130706433": "127.0.0.1", "http://0177.0.0.1": "127.0.0.1", "http://0x7f000001/": "127.0.0.1", "http://127.1": "127.0.0.1",
		"http://127.0.0.1.": "127.0.0.1", "http://[::1]:80/": "::1", "http://[0:0::1]": "::1", "http://[::ffff:127.0.0.1]": "127.0.0.1", "http://[::ffff:7f00:1]": "127.0.0.1",
		"http://xn--bcher-kva.example": "xn--bcher-kva.example", "ws://a_b.example": "a_b.example", "https://1.example": "1.example",
		// Programs disagree about the host of these, or there is none.
		"": "-", "example.com": "-", "//example.com": "-", "http:example.com": "-", "http:/example.com": "-", "http:///example.com": "-", "http://": "-", `http:\\example.com`: "-",
		`http://example.com\@evil.example`: "-", "http://a@b@c": "-", "a:://b": "-", "http://exa mple.com": "-", " http://example.com": "-", "http://exam\tple.com": "-", "http://example.com\n": "-",
		"http://b\u00fccher.example": "-", "http://\uff45xample.com": "-", "http://%65xample.com": "-", "http://example.com:80:90": "-", "http://example.com:99999": "-", "http://example.com:x": "-",
		"http://256.1.1.1": "-", "http://1.2.3.4.5": "-", "http://08.1.1.1": "-", "http://1.2.3.09": "-", "http://0x.example.0xg": "-", "http://a..b": "-", "http://.": "-", "http://[::1": "-", "http://[::1]x": "-",
		"http://[fe80::1%25eth0]": "-", "http://[127.0.0.1]": "-", "javascript:alert(1)": "-", "data:text/html,x": "-", "http://4294967296": "-", "1http://x": "-", "http://example.com:+80": "-",
	} {
		got, ok := HostOf(in)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzRead: what is read is what encoding/json reads, and what it reads otherwise is not
// read.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"i":5e2,"s":"\ud800"}`, `{"i":1,"i":2}`, `{"I":1}`, `{"n":500.00009}`, `{"s":"a\u0000"}`, `{"o":{"p":1,"P":2}}`, `{"i":-0.0e1}`, `{"l":["a"]}`, `{"i":12345678901234567890}`, `{"n":0.00010}`} {
		f.Add([]byte(s))
	}
	reader := New([]ReadArguments{{Path: []string{"i"}}, {Path: []string{"n"}}, {Path: []string{"s"}}, {Path: []string{"o", "p"}}, {Path: []string{"b"}}}, []byte(testSchema))
	f.Fuzz(func(t *testing.T, arguments []byte) {
		if !json.Valid(arguments) {
			return // the proxy lets no such bytes through
		}
		values, err := reader.Read(arguments)
		if err != nil {
			return
		}
		if len(arguments) == 0 || string(arguments) == "null" {
			return
		}
		var want struct {
			I json.Number `json:"i"`
			N json.Number `json:"n"`
			S *string     `json:"s"`
			O *struct {
				P json.Number `json:"p"`
			} `json:"o"`
			B *bool `json:"b"`
		}
		d := json.NewDecoder(bytes.NewReader(arguments))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("%s is read, and not by encoding/json: %v", arguments, err)
		}
		raw := values[Raw]
		sameNumber(t, arguments, raw["i"], want.I)
		sameNumber(t, arguments, raw["n"], want.N)
		if want.O != nil {
			o, _ := raw["o"].(types.Record)
			p, _ := o.Get("p")
			sameNumber(t, arguments, p, want.O.P)
		}
		s, ok := raw["s"].(types.String)
		if ok != (want.S != nil) || ok && string(s) != *want.S {
			t.Fatalf("%s: got %v", arguments, raw["s"])
		}
		b, ok := raw["b"].(types.Boolean)
		if ok != (want.B != nil) || ok && bool(b) != *want.B {
			t.Fatalf("%s: got %v", arguments, raw["b"])
		}
	})
}

func sameNumber(t *testing.T, arguments []byte, got types.Value, want json.Number) {
	t.Helper()
	if (got == nil) != (want == "") {
		t.Fatalf("%s: got %v, want %v", arguments, got, want)
	}
	if got == nil {
		return
	}
	text := got.String()
	if _, mantissa, ok := strings.Cut(strings.ToLower(string(want)), "e"); ok && len(mantissa) > 6 {
		return // big.Rat would take all memory
	}
	a, _ := new(big.Rat).SetString(text)
	b, ok := new(big.Rat).SetString(string(want))
	if a == nil || !ok || a.Cmp(b) != 0 {
		t.Fatalf("%s: got %s, want %s", arguments, text, want)
	}
}

// FuzzCleanPath: a path and its clean form lead to one file, as the system finds it.
func FuzzCleanPath(f *testing.F) {
	for _, s := range []string{"a/../b", "/a/./b", "a//b/", "b/..", `a\b`, "a/b/../../b/a", "..a", "a/..b"} {
		f.Add(s)
	}
	root := f.TempDir()
	for _, dir := range []string{"a/b/a", "b/a/b", `a\b`, "..a", "a/..b", "%2e%2e"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, path string) {
		clean, ok := CleanPath(path)
		if !ok || isDrivePath(path) {
			return
		}
		if again, ok := CleanPath(clean); !ok || again != clean {
			t.Fatalf("%q becomes %q, and that %q", path, clean, again)
		}
		was, err := os.Stat(root + "/" + path)
		if err != nil || strings.HasPrefix(path, "/") && strings.Contains(path, "..") {
			return // it is not there, or may lead above the tree
		}
		is, err := os.Stat(root + "/" + clean)
		if err != nil || !os.SameFile(was, is) {
			t.Fatalf("%q is not the file of %q: %v", path, clean, err)
		}
	})
}

// FuzzHostOf: a host is that which net/url finds, where it finds one.
func FuzzHostOf(f *testing.F) {
	for _, s := range []string{"http://a@b", "https://EXAMPLE.com.:443/x", "http://0x7f.1", "http://[::1]:80", "http://a.example/@b", `http://a\@b`, "http://a?@b", "ftp://1.2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, ok := HostOf(text)
		if !ok {
			return
		}
		u, err := url.Parse(text)
		if err != nil {
			return // net/url takes less
		}
		found := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		if addr, err := netip.ParseAddr(host); err == nil {
			if other, err := netip.ParseAddr(found); err == nil && other.Unmap() != addr {
				t.Fatalf("%q: got %s, net/url has %s", text, host, found)
			}
			return
		}
		if host != found {
			t.Fatalf("%q: got %s, net/url has %s", text, host, found)
		}
	})
}
