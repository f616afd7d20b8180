package cli

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// pickWrite is the tool as the picker shows it.
const pickWrite = "write  Writes a file."

// TestPick: on a terminal, a call asks for its server, its tool and the arguments that are missing,
// and prints the command that it has become. In scripts, what is missing is an error.
func TestPick(t *testing.T) {
	file := tool(`{"name":"write","description":"Writes a file. At once.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"mode":{"enum":["new","old"]},"force":{"type":"boolean"},"lines":{"type":"array","items":{"type":"string"}},"meta":{"type":"object"},"n":{"type":"integer","description":"How many. Or more."}},"required":["path","mode","force","lines","meta"]}}`, reflected)
	for name, tt := range map[string]struct {
		words   string
		answers []any
		asked   []string
		command string
		out     string
	}{
		"everything": {
			"call",
			[]any{"fs", pickWrite, "a b", "old", "true", "x, y", `{"k":1}`, []string{"n  How many."}, "3"},
			[]string{"Server", "Tool of fs", "path", "mode", "force", "lines (several with commas between)", "meta (JSON, object)", "Optional arguments to set", "n"},
			`mcpctl call fs write 'path=a b' mode=old force=true 'lines[]=x' 'lines[]=y' 'meta:={"k":1}' n=3`,
			`{"path":"a b","mode":"old","force":true,"lines":["x","y"],"meta":{"k":1},"n":3}`,
		},
		"a tool": {
			"call fs",
			[]any{pickWrite, "a", "new", "false", "x", `{}`, []string(nil)},
			[]string{"Tool of fs", "path", "mode", "force", "lines (several with commas between)", "meta (JSON, object)", "Optional arguments to set"},
			`mcpctl call fs write path=a mode=new force=false 'lines[]=x' 'meta:={}'`,
			`{"path":"a","mode":"new","force":false,"lines":["x"],"meta":{}}`,
		},
		"what is missing": {
			"fs write path=a n=1 lines[]=x",
			[]any{"new", "false", `{}`},
			[]string{"mode", "force", "meta (JSON, object)"},
			`mcpctl call fs write path=a n=1 'lines[]=x' mode=new force=false 'meta:={}'`,
			`{"path":"a","n":1,"lines":["x"],"mode":"new","force":false,"meta":{}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			asker := &ui.Scripted{Answers: tt.answers}
			b := &bench{server: &runtimetest.Server{Tools: []runtimetest.Tool{file}}, asker: asker, text: true}
			got := b.run(t, strings.Fields(tt.words)...)
			if got.code != 0 || !strings.Contains(got.errOut, tt.command+"\n") || !strings.Contains(strings.ReplaceAll(got.out, "\n", ""), tt.out) {
				t.Errorf("got %+v\nwant %s\nand %s", got, tt.command, tt.out)
			}
			if strings.Join(asker.Asked, "|") != strings.Join(tt.asked, "|") {
				t.Errorf("asked %q, want %q", asker.Asked, tt.asked)
			}
		})
	}
	for words, want := range map[string]string{
		"call": "missing argument: mcpctl call SERVER TOOL", "call fs": "missing argument: mcpctl call SERVER TOOL", "fs write path=a": "required, but missing",
	} {
		b := &bench{server: &runtimetest.Server{Tools: []runtimetest.Tool{file}}}
		if got := b.run(t, strings.Fields(words)...); got.code != exitUsage || !strings.Contains(got.errOut, want) {
			t.Errorf("%s in a script: got %+v", words, got)
		}
		b = &bench{server: &runtimetest.Server{Tools: []runtimetest.Tool{file}}, asker: &ui.Scripted{}, json: true}
		if got := b.run(t, strings.Fields(words)...); got.code != exitUsage || !strings.Contains(got.errOut, want) {
			t.Errorf("%s with --json: got %+v", words, got)
		}
	}
	// A wrong value is an error, and no question.
	b := &bench{server: &runtimetest.Server{Tools: []runtimetest.Tool{file}}, asker: &ui.Scripted{Answers: []any{"x", `{}`}}, text: true}
	if got := b.run(t, "fs", "write", "path=a", "mode=other", "force=true"); got.code != exitUsage || !strings.Contains(got.errOut, `"other" is not one of`) {
		t.Errorf("got %+v", got)
	}
}
