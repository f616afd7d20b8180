package codegen_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestTemplateRFC: the examples of RFC 6570, sections 1.2, 2.4 and 3.2, where
// maps are written in the order of their keys (the RFC leaves it open).
func TestTemplateRFC(t *testing.T) {
	values := map[string]any{
		"count": []string{"one", "two", "three"}, "dom": []string{"example", "com"}, "dub": "me/too",
		"hello": "Hello World!", "half": "50%", "var": "value", "who": "fred", "base": "http://example.com/home/",
		"path": "/foo/bar", "list": []string{"red", "green", "blue"},
		"keys": map[string]string{"semi": ";", "dot": ".", "comma": ","},
		"v":    "6", "x": "1024", "y": "768", "empty": "", "empty_keys": map[string]string{}, "undef": nil,
		"year": []string{"1965", "2000", "2012"}, "semi": ";", "no_list": []string(nil),
		"blanks": []string{"", "a"}, "blank_keys": map[string]string{"k": ""}, "reserved": "a%2Fb%zz",
		"accents": "éàü", "weird.name": "n", "pct%41": "p",
	}
	for template, want := range map[string]string{
		// 1.2
		"{var}": "value", "{hello}": "Hello%20World%21", "{+var}": "value", "{+hello}": "Hello%20World!", "{+path}/here": "/foo/bar/here",
		"here?ref={+path}": "here?ref=/foo/bar", "X{#var}": "X#value", "X{#hello}": "X#Hello%20World!", "map?{x,y}": "map?1024,768",
		"{x,hello,y}": "1024,Hello%20World%21,768", "{+x,hello,y}": "1024,Hello%20World!,768", "{+path,x}/here": "/foo/bar,1024/here",
		"{#x,hello,y}": "#1024,Hello%20World!,768", "{#path,x}/here": "#/foo/bar,1024/here", "X{.var}": "X.value", "X{.x,y}": "X.1024.768",
		"{/var}": "/value", "{/var,x}/here": "/value/1024/here", "{;x,y}": ";x=1024;y=768", "{;x,y,empty}": ";x=1024;y=768;empty",
		"{?x,y}": "?x=1024&y=768", "{?x,y,empty}": "?x=1024&y=768&empty=", "?fixed=yes{&x}": "?fixed=yes&x=1024", "{&x,y,empty}": "&x=1024&y=768&empty=",
		// 2.4.1, 2.4.2
		"{var:20}": "value", "{var:3}": "val", "{semi}": "%3B", "{semi:2}": "%3B", "find{?year*}": "find?year=1965&year=2000&year=2012", "www{.dom*}": "www.example.com",
		// 3.2.1
		"{count}": "one,two,three", "{count*}": "one,two,three", "{/count}": "/one,two,three", "{/count*}": "/one/two/three", "{;count}": ";count=one,two,three",
		"{;count*}": ";count=one;count=two;count=three", "{?count}": "?count=one,two,three", "{?count*}": "?count=one&count=two&count=three", "{&count*}": "&count=one&count=two&count=three",
		// 3.2.2
		"{half}": "50%25", "O{empty}X": "OX", "O{undef}X": "OX", "{x,y}": "1024,768", "?{x,empty}": "?1024,", "?{x,undef}": "?1024", "?{undef,y}": "?768",
		"{var:30}": "value", "{list}": "red,green,blue", "{list*}": "red,green,blue", "{keys}": "comma,%2C,dot,.,semi,%3B", "{keys*}": "comma=%2C,dot=.,semi=%3B",
		// 3.2.3
		"{+half}": "50%25", "{base}index": "http%3A%2F%2Fexample.com%2Fhome%2Findex", "{+base}index": "http://example.com/home/index", "O{+empty}X": "OX", "O{+undef}X": "OX",
		"up{+path}{var}/here": "up/foo/barvalue/here", "{+path:6}/here": "/foo/b/here", "{+list}": "red,green,blue", "{+list*}": "red,green,blue",
		"{+keys}": "comma,,,dot,.,semi,;", "{+keys*}": "comma=,,dot=.,semi=;",
		// 3.2.4
		"{#var}": "#value", "{#half}": "#50%25", "foo{#empty}": "foo#", "foo{#undef}": "foo", "{#path:6}/here": "#/foo/b/here", "{#list*}": "#red,green,blue", "{#keys*}": "#comma=,,dot=.,semi=;",
		// 3.2.5
		"{.who}": ".fred", "{.who,who}": ".fred.fred", "{.half,who}": ".50%25.fred", "X{.empty}": "X.", "X{.undef}": "X", "X{.var:3}": "X.val", "X{.list}": "X.red,green,blue",
		"X{.list*}": "X.red.green.blue", "X{.keys}": "X.comma,%2C,dot,.,semi,%3B", "X{.keys*}": "X.comma=%2C.dot=..semi=%3B", "X{.empty_keys}": "X", "X{.empty_keys*}": "X",
		// 3.2.6
		"{/who}": "/fred", "{/who,who}": "/fred/fred", "{/half,who}": "/50%25/fred", "{/who,dub}": "/fred/me%2Ftoo", "{/var,empty}": "/value/", "{/var,undef}": "/value",
		"{/var:1,var}": "/v/value", "{/list}": "/red,green,blue", "{/list*}": "/red/green/blue", "{/list*,path:4}": "/red/green/blue/%2Ffoo", "{/keys*}": "/comma=%2C/dot=./semi=%3B",
		// 3.2.7
		"{;who}": ";who=fred", "{;half}": ";half=50%25", "{;empty}": ";empty", "{;v,empty,who}": ";v=6;empty;who=fred", "{;v,bar,who}": ";v=6;who=fred", "{;x,y,undef}": ";x=1024;y=768",
		"{;hello:5}": ";hello=Hello", "{;list}": ";list=red,green,blue", "{;list*}": ";list=red;list=green;list=blue", "{;keys}": ";keys=comma,%2C,dot,.,semi,%3B", "{;keys*}": ";comma=%2C;dot=.;semi=%3B",
		// 3.2.8, 3.2.9
		"{?who}": "?who=fred", "{?half}": "?half=50%25", "{?x,y,undef}": "?x=1024&y=768", "{?var:3}": "?var=val", "{?list}": "?list=red,green,blue", "{?list*}": "?list=red&list=green&list=blue",
		"{?keys}": "?keys=comma,%2C,dot,.,semi,%3B", "{?keys*}": "?comma=%2C&dot=.&semi=%3B", "{&who}": "&who=fred", "{&var:3}": "&var=val", "{&keys*}": "&comma=%2C&dot=.&semi=%3B",
		// beyond the RFC's examples
		"é{x} %zz%41": "%C3%A91024%20%25zz%41", "{accents:2}": "%C3%A9%C3%A0", "{+reserved}": "a%2Fb%25zz", "{;blanks*}": ";blanks;blanks=a", "{?blanks*}": "?blanks=&blanks=a",
		"{;blank_keys*}": ";k", "{?blank_keys*}": "?k=", "{blank_keys*}": "k=", "{no_list}{?no_list*}": "", "{weird.name}{pct%41}": "np", "": "",
	} {
		parsed, err := codegen.ParseTemplate(template)
		if err != nil {
			t.Errorf("%s: %v", template, err)
			continue
		}
		if got, err := parsed.Expand(values); err != nil || got != want {
			t.Errorf("%s: got %s %v, want %s", template, got, err, want)
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	for template, want := range map[string]string{
		"{": "without", "a{b": "without", "}": "without", "a}b{c}": "without", "{}": "no variable", "{+}": "not the name", "{=a}": "reserved", "{|a}": "reserved",
		"{a,}": "not the name", "{a b}": "not the name", "{a-b}": "not the name", "{.a.}": "not the name", "{a..b}": "not the name", "{a:0}": "not a length", "{a:10000}": "not a length",
		"{a:+1}": "not a length", "{a:01}": "not a length", "{a:}": "not a length", "{a*:3}": "not the name", "{a:3*}": "not a length", "{%4}": "not the name", "{{a}}": "not the name", "\xff": "UTF-8",
	} {
		if _, err := codegen.ParseTemplate(template); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", template, err, want)
		}
	}
	for template, v := range map[string]any{"{a:3}": []string{"x"}, "{?a:3}": map[string]string{"x": "y"}, "{a}": 1} {
		parsed, err := codegen.ParseTemplate(template)
		require.NoError(t, err)
		if got, err := parsed.Expand(map[string]any{"a": v}); err == nil {
			t.Errorf("%s: got %s, want an error", template, got)
		}
	}
}

func TestTemplateVars(t *testing.T) {
	parsed, err := codegen.ParseTemplate("x://{a}/{+b,c:3}{?d*,a}")
	require.NoError(t, err)
	want := []codegen.TemplateVar{{Name: "a"}, {Name: "b", Operator: '+'}, {Name: "c", Operator: '+', Prefix: 3}, {Name: "d", Operator: '?', Explode: true}, {Name: "a", Operator: '?'}}
	if got := parsed.Vars(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// FuzzTemplate: a value in a simple expression comes back out of the URI.
func FuzzTemplate(f *testing.F) {
	f.Add("x://{a}/{+b}{?c*}", "é/%41 {}")
	f.Fuzz(func(t *testing.T, template, value string) {
		if got, err := codegen.ParseTemplate("{v}"); err == nil {
			s, err := got.Expand(map[string]any{"v": value})
			if back, uerr := url.PathUnescape(s); err != nil || uerr != nil || back != value || strings.ContainsAny(s, "/?#&;") {
				t.Fatalf("%q: got %q %v", value, s, err)
			}
		}
		parsed, err := codegen.ParseTemplate(template)
		if err != nil {
			return
		}
		for _, values := range []any{value, []string{value, ""}, map[string]string{value: value}} {
			all := map[string]any{}
			for _, v := range parsed.Vars() {
				all[v.Name] = values
			}
			got, err := parsed.Expand(all)
			if err == nil && strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("{}<>\"\\^`|", r) }) {
				t.Fatalf("%q: %q is no URI", template, got)
			}
		}
	})
}
