package dial

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// answering is a server that answers each request with the same result.
type answering struct {
	runtime.Transport
	result string
	asked  int
}

func (a *answering) Call(context.Context, *runtime.Request) (json.RawMessage, error) {
	a.asked++
	return json.RawMessage(a.result), nil
}

// TestFilteredCall: a tool that there is not is never asked for, however it is named.
func TestFilteredCall(t *testing.T) {
	t.Parallel()
	filter := config.ToolFilter{Allow: []string{"read_*", "list"}, Deny: []string{"read_secret"}}
	for params, asked := range map[string]bool{
		`{"name":"list"}`: true,
		`{"name":"read_file","arguments":{"name":"x"}}`: true,
		`{"name":"write"}`:                    false,
		`{"name":"read_secret"}`:              false,
		`{"name":"READ_FILE"}`:                false,
		`{"name":"list","name":"write"}`:      false,
		`{"name":"write","name":"list"}`:      false,
		`{"name":"write","Name":"list"}`:      false,
		`{"name":"list","NAME":"write"}`:      false,
		`{"Name":"list"}`:                     false,
		`{"name":"\u0077rite"}`:               false,
		`{"n\u0061me":"write","name":"list"}`: false,
		`{"name":["list"]}`:                   false,
		`{"arguments":{}}`:                    false,
		`[]`:                                  false,
		``:                                    false,
	} {
		server := &answering{result: `{}`}
		_, err := filtered{server, filter}.Call(t.Context(), &runtime.Request{Method: revision.MethodToolsCall, Params: json.RawMessage(params)})
		if asked != (err == nil) || asked != (server.asked == 1) {
			t.Errorf("%s: asked %d times, %v", params, server.asked, err)
		}
		if rpc, ok := errors.AsType[*runtime.Error](err); err != nil && (!ok || rpc.Code != runtime.CodeInvalidParams) {
			t.Errorf("%s: got %v", params, err)
		}
	}
}

// TestFilteredList: a list has the tools that there are, and all else as it was.
func TestFilteredList(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		filter       config.ToolFilter
		list, result string
	}{
		{config.ToolFilter{Deny: []string{"b*"}}, `{"tools":[{"name":"a","x":1},{"name":"b"}, {"name":"c"}],"nextCursor":"n"}`, `{"tools":[{"name":"a","x":1},{"name":"c"}],"nextCursor":"n"}`},
		{config.ToolFilter{Allow: []string{}}, `{"_meta":{"a":1},"tools":[{"name":"a"}]}`, `{"_meta":{"a":1},"tools":[]}`},
		{config.ToolFilter{Allow: []string{"a"}}, `{"tools":[{"name":"a","Name":"b"},{"x":1},{"name":"a"}]}`, `{"tools":[{"name":"a"}]}`},
		{config.ToolFilter{Allow: []string{"a"}}, `{"tools":{"name":"a"}}`, ``},
		{config.ToolFilter{Allow: []string{"a"}}, `{}`, ``},
	} {
		got, err := filtered{&answering{result: tt.list}, tt.filter}.Call(t.Context(), &runtime.Request{Method: revision.MethodToolsList})
		if string(got) != tt.result || (err == nil) != (tt.result != "") {
			t.Errorf("%s: got %s, %v", tt.list, got, err)
		}
	}
	other, err := filtered{&answering{result: `{"tools":[{"name":"b"}]}`}, config.ToolFilter{Allow: []string{"a"}}}.Call(t.Context(), &runtime.Request{Method: revision.MethodPromptsList})
	require.NoError(t, err)
	if string(other) != `{"tools":[{"name":"b"}]}` {
		t.Errorf("another result is %s", other)
	}
}
