package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func planProject() runtimetest.Prompt {
	return runtimetest.Prompt{
		Definition: json.RawMessage(`{"name":"plan_project","title":"Plan a project","description":"Asks for a plan of what to build from what is in stock.",` +
			`"arguments":[{"name":"project","description":"what to build, such as a step stool","required":true},{"name":"budget","description":"in euros; default: no limit"}]}`),
		Get: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var in struct {
				Project string `json:"project"`
				Budget  string `json:"budget"`
			}
			if err := json.Unmarshal(c.Arguments, &in); err != nil {
				return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "arguments: " + err.Error()}
			}
			if in.Project == "" {
				return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing argument: project"}
			}
			ask := fmt.Sprintf("Plan how to build %s", in.Project)
			if in.Budget != "" {
				ask += " for at most " + in.Budget + " euros"
			}
			ask += ". Use search_items to see what the workshop has, and list the order to place."
			return json.Marshal(map[string]any{
				"description": "A plan for " + in.Project,
				"messages":    []any{map[string]any{"role": "user", "content": content{Type: "text", Text: ask}}},
			})
		},
	}
}
