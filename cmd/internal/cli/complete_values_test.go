package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
)

func raw(texts ...string) (out []json.RawMessage) {
	for _, text := range texts {
		out = append(out, json.RawMessage(text))
	}
	return out
}

func texts(words []cli.Word) string {
	var out []string
	for _, w := range words {
		text := w.Text
		if w.Open {
			text += "…"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// What a server says is not trusted: a shell may put it on the command line as it is.
func TestOffered(t *testing.T) {
	var words []cli.Word
	for _, text := range []string{"echo", "echo2", "x", "", "e;rm", "e$(id)", "e`id`", "e f", "e'f", "e\nf", "e*", "e\x1b[31m", "--config=evil", "e/.:=@,+%-_9"} {
		words = append(words, cli.Word{Text: text, About: "  says\x1b[31m \u202efoo\nmore" + strings.Repeat("ä", 200)})
	}
	if got := texts(cli.Offered(words, "e")); got != "echo echo2 e/.:=@,+%-_9" {
		t.Errorf("got %s", got)
	}
	if got := texts(cli.Offered(words, "")); strings.Contains(got, "--config") {
		t.Errorf("got %s", got)
	}
	about := cli.Offered(words, "echo")[0].About
	if strings.ContainsAny(about, "\n\x1b\u202e") || !strings.HasPrefix(about, "says") || len([]rune(about)) > 100 {
		t.Errorf("got %q", about)
	}
}

func TestNamesAndURIs(t *testing.T) {
	items := raw(`{"name":"a","description":"first\nsecond"}`, `{"name":7}`, `x`, `{"name":"b","title":"B"}`)
	words := cli.Names(items)
	if texts(words) != "a b" || words[1].About != "B" {
		t.Errorf("got %+v", words)
	}
	if e, ok := cli.Entry(items, "b"); !ok || string(e) != `{"name":"b","title":"B"}` {
		t.Errorf("got %s, %v", e, ok)
	}
	if _, ok := cli.Entry(items, "c"); ok {
		t.Error("there is no c")
	}
	templates := raw(`{"uriTemplate":"x://item/{id}"}`, `{"uriTemplate":"x://{+path}"}`, `{"uriTemplate":"x://fixed"}`)
	if got := texts(cli.URIs(raw(`{"uri":"x://one"}`), templates)); got != "x://one x://item/… x://… x://fixed" {
		t.Errorf("got %s", got)
	}
	for text, want := range map[string]string{"x://item/4": "x://item/{id} id x://item/", "x://item/": "x://item/{id} id x://item/", "x://it": "  ", "y": "  "} {
		template, name, before, ok := cli.Variable(templates, text)
		if got := template + " " + name + " " + before; got != want || ok != (want != "  ") {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

func TestArguments(t *testing.T) {
	tool := json.RawMessage(`{"name":"t","inputSchema":{"type":"object","required":["mode","who"],"properties":{
		"note":{"type":"string"},"mode":{"type":"string","enum":["fast","slow",3]},"dry":{"type":"boolean"},"tags":{"type":"array","items":{"enum":["x","y"]}},
		"who":{"type":"object","properties":{"name":{"type":"string"},"kind":{"enum":["a","b"]}}},
		"free":{"type":"object"},"lines":{"type":"array","items":{"type":"object"}},"any":{}}}}`)
	for _, tt := range []struct{ given, begun, want string }{
		{"", "", "mode=… who.… note=… dry=… tags=… free:=… lines:=… any=…"},
		{"mode=fast note:=1 tags=x", "", "who.… dry=… tags=… free:=… lines:=… any=…"},
		{"", "who.", "who.name=… who.kind=…"},
		{"who.name=Ada", "who.", "who.kind=…"},
		{"", "who.kind=", "who.kind=a who.kind=b"},
		{"", "mode=f", "mode=fast mode=slow mode=3"},
		{"", "dry=", "dry=true dry=false"},
		{"", "tags=", "tags=x tags=y"},
		{"", "note=", ""},
		{"", "nothing=", ""},
		{"", "nothing.x=", ""},
	} {
		if got := texts(cli.Arguments(tool, strings.Fields(tt.given), tt.begun)); got != tt.want {
			t.Errorf("%q, %q: got %s, want %s", tt.given, tt.begun, got, tt.want)
		}
	}
	for _, broken := range []string{`x`, `{"name":"t"}`, `{"name":"t","inputSchema":{"type":"objekt"}}`} {
		if got := cli.Arguments(json.RawMessage(broken), nil, ""); len(got) != 0 {
			t.Errorf("%s: got %v", broken, got)
		}
	}
	prompt := json.RawMessage(`{"name":"p","arguments":[{"name":"b"},{"name":"a","required":true}]}`)
	if got := texts(cli.PromptArguments(prompt, nil)); got != "a=… b=…" {
		t.Errorf("got %s", got)
	}
	if got := texts(cli.PromptArguments(prompt, []string{"a=1"})); got != "b=…" {
		t.Errorf("got %s", got)
	}
}
