package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestListsNotDeclared: a server is not asked for a list that it does not declare,
// which is empty, with one note.
func TestListsNotDeclared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ words, capabilities, method, json, note string }{
		{"prompts fs", `{"tools":{}}`, "prompts/list", `{"prompts":[]}`, "fs offers no prompts"},
		{"resources fs", `{"tools":{},"prompts":{}}`, "resources/list", `{"resources":[]}`, "fs offers no resources"},
		{"resources fs --templates", `{}`, "resources/templates/list", `{"resourceTemplates":[]}`, "fs offers no resources"},
	} {
		for _, text := range []bool{true, false} {
			b := &bench{text: text, json: !text, info: runtime.ServerInfo{Capabilities: json.RawMessage(tt.capabilities)}, server: &runtimetest.Server{Methods: map[string]runtimetest.Func{
				tt.method: func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
					t.Errorf("%s: the server was asked", tt.words)
					return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "no such method"}
				},
			}}}
			want := ""
			if !text {
				want = tt.json + "\n"
			}
			if got := b.run(t, strings.Fields(tt.words)...); got.code != 0 || got.out != want || got.errOut != tt.note+"\n" {
				t.Errorf("%s: got %+v", tt.words, got)
			}
		}
	}
}
