package demo

import (
	"encoding/json"
	"fmt"

	"github.com/mcpctl/mcpctl/runtime"
)

func listPrompts() any {
	return map[string]any{"prompts": []runtime.Prompt{{
		Name: "plan_project", Title: "Plan a project", Description: "Asks for a plan of what to build from what is in stock.",
		Arguments: []runtime.PromptArgument{
			{Name: "project", Description: "what to build, such as a step stool", Required: true},
			{Name: "budget", Description: "in euros; default: no limit"},
		},
	}}}
}

func (s *Server) getPrompt(c *request) (any, error) {
	if name := stringParam(c.params, "name"); name != "plan_project" {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Unknown prompt: " + name}
	}
	var in struct {
		Project string `json:"project"`
		Budget  string `json:"budget"`
	}
	if c.arguments != nil {
		if err := json.Unmarshal(c.arguments, &in); err != nil {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "arguments: " + err.Error()}
		}
	}
	if in.Project == "" {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "missing argument: project"}
	}
	ask := fmt.Sprintf("Plan how to build %s", in.Project)
	if in.Budget != "" {
		ask += " for at most " + in.Budget + " euros"
	}
	ask += ". Use search_items to see what the workshop has, and list the order to place."
	return map[string]any{
		"description": "A plan for " + in.Project,
		"messages":    []any{map[string]any{"role": "user", "content": content{Type: "text", Text: ask}}},
	}, nil
}
