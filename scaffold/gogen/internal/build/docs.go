package build

import (
	"encoding/json"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// toolDoc returns the documentation of a tool, without the schemas.
func toolDoc(t *runtime.Tool) []string {
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	doc := entryDoc("calls the tool", t.Name, title, t.Description)
	if claims := annotationText(t.Annotations); claims != "" {
		doc = append(doc, claims+" (the server's claim).")
	}
	var extra struct {
		Execution struct {
			TaskSupport string `json:"taskSupport"`
		} `json:"execution"`
	}
	if json.Unmarshal(t.Raw, &extra) == nil && extra.Execution.TaskSupport == "required" {
		doc = append(doc, "The server runs this tool as a task only (taskSupport: required) and refuses a plain call.")
	}
	return doc
}

// annotationText returns a server's hints in words; missing ones are not
// mentioned.
func annotationText(a *runtime.ToolAnnotations) string {
	if a == nil {
		return ""
	}
	var parts []string
	say := func(hint *bool, yes, negative string) {
		switch {
		case hint == nil:
		case *hint && yes != "":
			parts = append(parts, yes)
		case !*hint && negative != "":
			parts = append(parts, negative)
		}
	}
	say(a.ReadOnlyHint, "read-only", "")
	if a.ReadOnlyHint == nil || !*a.ReadOnlyHint {
		// Both are for tools that change things only (2025-11-25, schema,
		// ToolAnnotations).
		say(a.DestructiveHint, "destructive", "only adds")
		say(a.IdempotentHint, "idempotent", "not idempotent")
	}
	say(a.OpenWorldHint, "reaches out to other systems", "closed world")
	if len(parts) == 0 {
		return ""
	}
	parts[0] = strings.ToUpper(parts[0][:1]) + parts[0][1:]
	return strings.Join(parts, ", ")
}
