package ui

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/mcpctl/mcpctl/runtime"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9]*m")

// wide fails where a line of text is wider than the terminal, unless it is one thing
// that is never cut.
func wide(t *testing.T, width int, got string, stored ...string) {
	t.Helper()
	for line := range strings.Lines(sgr.ReplaceAllString(got, "")) {
		line = strings.TrimRight(line, "\n")
		whole := false
		for _, k := range stored {
			whole = whole || strings.TrimSpace(line) == k || strings.TrimSuffix(strings.TrimSpace(line), ",") == k
		}
		if text.StringWidth(line) > width && !whole {
			t.Errorf("%d columns: %q has %d", width, line, text.StringWidth(line))
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("%d columns: %q ends in spaces", width, line)
		}
	}
}

func TestTableColumns(t *testing.T) {
	table := Table{
		Headers: []string{"NAME", "STATE", "TRANSPORT", "TARGET", "ORIGIN"},
		Rows: [][]string{
			{"fs", "", "stdio", "npx -y @modelcontextprotocol/server-filesystem /home/user/notes"},
			{"漢字", "", "http", "https://mcp.example.com/v1/mcp"},
			{"a-server-with-a-name-that-needs-the-whole-line-of-a-terminal", "", "http", "http://x/"},
		},
		Keep: []int{3},
	}
	for _, tt := range []struct {
		width int
		want  string
	}{
		{0, `
NAME                                                          TRANSPORT  TARGET
fs                                                            stdio      npx -y @modelcontextprotocol/server-filesystem /home/user/notes
漢字                                                          http       https://mcp.example.com/v1/mcp
a-server-with-a-name-that-needs-the-whole-line-of-a-terminal  http       http://x/
`},
		{60, `
NAME  TRANSPORT  TARGET
fs    stdio
    npx -y @modelcontextprotocol/server-filesystem /home/user/notes
漢字  http       https://mcp.example.com/v1/mcp
a-server-with-a-name-that-needs-the-whole-line-of-a-terminal
    http  http://x/
`},
		{20, `
fs
    transport stdio
    target npx -y @modelcontextprotocol/server-filesystem /home/user/notes
漢字
    transport http
    target https://mcp.example.com/v1/mcp
a-server-with-a-name-that-needs-the-whole-line-of-a-terminal
    transport http
    target http://x/
`},
	} {
		if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), table.Render(tt.width, false)); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", tt.width, diff)
		}
	}
}

// TestKept: at every width a name and a column to keep are whole, and other lines fit.
func TestStored(t *testing.T) {
	const uri, long = "https://example.com/a/very/long/path?with=query&and=more", "file:///home/me/an/address/with/many/parts/that/is/long.txt"
	table := Table{
		Headers: []string{"URI", "NAME", "TARGET", "DESCRIPTION"},
		Rows: [][]string{
			{long, "a name of some length", uri, strings.Repeat("word ", 40)},
			{"x:y", "", "", "short"},
		},
		Keep:  []int{2},
		Paint: map[int]func(string) string{1: Palette(true).Green},
	}
	for width := 10; width <= 200; width++ {
		got := sgr.ReplaceAllString(table.Render(width, true), "")
		for _, want := range []string{uri, long, "x:y"} {
			if !strings.Contains(got, want) {
				t.Errorf("%d columns: %s is cut:\n%s", width, want, got)
			}
		}
		if width >= 30 {
			wide(t, width, table.Render(width, true), uri, long, "target "+uri)
		}
		if plain := table.Render(width, false); !strings.Contains(plain, "\x1b") && got != strings.ReplaceAll(plain, "\x1b", "") {
			t.Errorf("%d columns: colour changes the text", width)
		}
	}
}

func sentry() Tool {
	t := Tool{Name: "search_events", Text: "Search events in an organisation.", Marks: "r@"}
	for _, name := range []string{"organizationSlug", "naturalLanguageQuery"} {
		t.Args = append(t.Args, Arg{Name: name, Type: "string", Required: true})
	}
	for name := range strings.FieldsSeq("regionUrl projectSlug limit includeExplanation environment statsPeriod") {
		t.Args = append(t.Args, Arg{Name: name, Type: "string|null", Required: false})
	}
	return t
}

func TestTools(t *testing.T) {
	tools := []Tool{
		{Name: "add", Args: []Arg{{Name: "a", Type: "number", Required: true}, {Name: "note", Type: "string"}}, Text: "Adds.", Marks: "r="},
		sentry(),
		{Name: "drop", Marks: "!", Unknown: true},
	}
	for _, tt := range []struct {
		width int
		want  string
	}{
		{120, `
TOOL                              HINTS  DESCRIPTION
add(a:number, note?:string)       r=     Adds.
search_events(organizationSlug:string, naturalLanguageQuery:string, regionUrl?:string|null, …+5)
    r@  Search events in an organisation.
drop(?)                           !
`},
		{60, `
TOOL                         HINTS  DESCRIPTION
add(a:number, note?:string)  r=     Adds.
search_events(organizationSlug, naturalLanguageQuery, …+6)
    r@  Search events in an organisation.
drop(?)                      !
`},
		{40, `
TOOL                 HINTS  DESCRIPTION
add(a:number, …+1)   r=     Adds.
search_events(organizationSlug,
    naturalLanguageQuery, …+6)
    r@  Search events in an organisatio…
drop(?)              !
`},
	} {
		got := Tools("TOOL", tools, tt.width, false)
		// The width of the first column is that of its widest name.
		if diff := cmp.Diff(squeeze(tt.want), squeeze("\n"+got)); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", tt.width, diff)
		}
	}
	if got := Tools("TOOL", tools, 0, false); !strings.Contains(got, "statsPeriod?:string|null)  r@") {
		t.Errorf("without a terminal something is cut:\n%s", got)
	}
	if got, want := Legend(tools), "r read-only, ! destructive, = idempotent, @ open-world"; got != want {
		t.Errorf("legend %q, want %q", got, want)
	}
	if got := Legend(tools[2:2]); got != "" {
		t.Errorf("legend %q without tools", got)
	}
}

// squeeze makes runs of spaces within a line one.
func squeeze(text string) string {
	return regexp.MustCompile(`(\S) {2,}`).ReplaceAllString(text, "$1  ")
}

// TestToolsKeep: at every width each name and required argument is whole.
func TestToolsKeep(t *testing.T) {
	long := Tool{Name: strings.Repeat("long_name_", 8), Args: []Arg{{Name: strings.Repeat("argument", 9), Type: "string", Required: true}, {Name: "b", Type: "object[]", Required: true}}, Text: "What it does."}
	tools := []Tool{sentry(), long}
	for width := 10; width <= 220; width++ {
		got := Tools("TOOL", tools, width, true)
		for _, want := range []string{"search_events(", "organizationSlug", "naturalLanguageQuery", long.Name + "(", long.Args[0].Name} {
			if !strings.Contains(got, want) {
				t.Errorf("%d columns: %s is cut:\n%s", width, want, got)
			}
		}
		if width >= 40 {
			wide(t, width, got, long.Name+"(", long.Args[0].Name, long.Args[0].Name+":string")
		}
	}
}

func TestToolOf(t *testing.T) {
	yes := true
	tool := &runtime.Tool{
		Name: "pa\x1b[31mint", Description: "\n\n  \t\nPaints a wall.\nSlowly.", Annotations: &runtime.ToolAnnotations{DestructiveHint: &yes},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"colour":{"enum":["red","green","blue","yellow","black","white","grey","pink","brown"]},"walls":{"type":"array","items":{"enum":[1,2,3,4,5,6,7,8,9]}}},"required":["walls"]}`),
	}
	want := Tool{Name: "paint", Text: "Paints a wall.", Marks: "!", Args: []Arg{{Name: "colour", Type: `"red"|"green"|"blue"|…`, Plain: "string"}, {Name: "walls", Type: "(1|2|3|4|5|6|7|8|…)[]", Plain: "integer[]", Required: true}}}
	if diff := cmp.Diff(want, ToolOf(tool)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tool.Description, tool.Title = "\n \n", "Paint"
	if got := ToolOf(tool).Text; got != "Paint" {
		t.Errorf("without a description: %q", got)
	}
	tool.InputSchema = json.RawMessage(`[]`)
	broken := ToolOf(tool)
	if got := broken.Signature(); got != "paint(?)" {
		t.Errorf("with a broken schema: %q", got)
	}
}

func TestValues(t *testing.T) {
	values := []string{`"one"`, `"two"`, `"three"`, `"four"`}
	want := []string{`      one of: "one", "two",`, `          "three", "four"`}
	if diff := cmp.Diff(want, Values("      one of: ", values, 30)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Values("one of: ", values, 0); len(got) != 1 || got[0] != `one of: "one", "two", "three", "four"` {
		t.Errorf("without a terminal: %q", got)
	}
}

func TestJSON(t *testing.T) {
	const raw = `{"n":1.0,"big":9007199254740993,"s":"a\"b: {1}","l":[true,null,{}]}`
	plain := JSON([]byte(raw), false)
	want := "{\n  \"n\": 1.0,\n  \"big\": 9007199254740993,\n  \"s\": \"a\\\"b: {1}\",\n  \"l\": [\n    true,\n    null,\n    {}\n  ]\n}"
	if diff := cmp.Diff(want, string(plain)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	coloured := string(JSON([]byte(raw), true))
	if got := sgr.ReplaceAllString(coloured, ""); got != want {
		t.Errorf("colour changes the text: %q", got)
	}
	for _, part := range []string{"\x1b[36m\"n\"\x1b[0m: \x1b[33m1.0\x1b[0m", "\x1b[32m\"a\\\"b: {1}\"\x1b[0m", "\x1b[33mnull\x1b[0m"} {
		if !strings.Contains(coloured, part) {
			t.Errorf("no %q in %q", part, coloured)
		}
	}
	if got := string(JSON([]byte("{oops"), true)); got != "{oops" {
		t.Errorf("what is no JSON became %q", got)
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		line  string
		width int
		want  string
	}{
		{"  one two three", 11, "  one two|  three"},
		{"one two", 0, "one two"},
		{"one  two", 8, "one  two"},
		{"    https://example.com/a/long/address ends", 12, "    https://example.com/a/long/address|    ends"},
		{"漢字 漢字", 6, "漢字|漢字"},
		{"", 5, ""},
	} {
		if got := strings.Join(Wrap(tt.line, tt.width), "|"); got != tt.want {
			t.Errorf("%q in %d columns: got %q, want %q", tt.line, tt.width, got, tt.want)
		}
	}
}

// TestNoWidth: where there is no terminal, a long name is whole, on one line with its row, and
// pads no other.
func TestNoWidth(t *testing.T) {
	long := strings.Repeat("n", 5000)
	got := Table{Headers: []string{"NAME", "TEXT"}, Rows: [][]string{{"short", "a"}, {long, "b"}}}.Render(0, false)
	if want := "NAME   TEXT\nshort  a\n" + long + "  b\n"; got != want {
		t.Errorf("got %s", got)
	}
}
