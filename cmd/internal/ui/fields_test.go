package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFields(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"errors by field", `{"errors":{"title":["is too long","is empty"],"due":"is past"}}`, "title: is too long|title: is empty|due: is past"},
		{"a web framework's detail", `{"detail":[{"loc":["body","items",0,"sku"],"msg":"field required","type":"missing"}]}`, "body.items[0].sku: field required"},
		{"a list of paths", `[{"code":"x","path":["a",1],"message":"Required"},{"path":"b.c","message":"Expected\nstring"},{"path":[],"message":"whole"}]`, "a[1]: Required|b.c: Expected string|whole"},
		{"fields alone", ` {"z":["first"],"a":["second"]} `, "z: first|a: second"},
		{"errors as a list", `{"message":"no","errors":[{"field":"x","message":"bad"}]}`, "x: bad"},
		{"terminal codes", `{"a":"b\u001b[31m"}`, "a: b"},
		{"detail is a text", `{"detail":"not found"}`, "detail: not found"},
		{"something else", `{"a":{"b":1}}`, ""},
		{"numbers", `[1,2]`, ""},
		{"issues without a message", `[{"path":["a"]}]`, ""},
		{"no JSON", `{"a"`, ""},
		{"nothing", ``, ""},
		{"a text", `"x"`, ""},
	} {
		if got := strings.Join(Fields([]byte(tt.raw)), "|"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	many := Fields([]byte(`{"a":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 60), ",") + `]}`))
	if len(many) != maxFields+1 || many[maxFields] != "…+10" {
		t.Errorf("60 errors became %d lines, the last %q", len(many), many[len(many)-1])
	}
}

func TestFieldsIn(t *testing.T) {
	for _, tt := range []struct{ text, head, want string }{
		{`MCP error -32602: [a] is wrong: [{"path":["a"],"message":"Required"}]`, "MCP error -32602: [a] is wrong:", "a: Required"},
		{`{"a":["b"]}`, "", "a: b"},
		{"just {words", "just {words", ""},
		{`{"a":["b"]} and more`, `{"a":["b"]} and more`, ""},
		{"", "", ""},
	} {
		head, fields := FieldsIn(tt.text)
		if head != tt.head || strings.Join(fields, "|") != tt.want {
			t.Errorf("%s: got %q and %q", tt.text, head, fields)
		}
	}
}

func TestFailure(t *testing.T) {
	f := Failure{Server: "notion", Message: "it broke\nhint: rm -rf\x1b[1m", Details: []string{"a.b: bad"}, Hint: "mcpctl\nping notion"}
	want := "mcpctl: notion: it broke\n  hint: rm -rf\n  a.b: bad\nhint: mcpctl ping notion\n"
	if diff := cmp.Diff(want, f.Render(false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	coloured := f.Render(true)
	if got := sgr.ReplaceAllString(coloured, ""); got != want || !strings.HasPrefix(coloured, "\x1b[31mmcpctl:\x1b[0m notion") {
		t.Errorf("in colour: %q", coloured)
	}
	if got := (Failure{Message: "x"}).Render(false); got != "mcpctl: x\n" {
		t.Errorf("got %q", got)
	}
}
