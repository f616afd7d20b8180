package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpctl/mcpctl/runtime/schema"
)

// The arguments of a tool against its inputSchema.
func Example() {
	s, err := schema.Parse(json.RawMessage(`{
		"type": "object",
		"properties": {"title": {"type": "string"}, "labels": {"type": "array", "maxItems": 3}},
		"required": ["title"]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = s.Validate(json.RawMessage(`{"title": 7}`))
	if invalid, ok := errors.AsType[*schema.ValidationError](err); ok {
		for _, issue := range invalid.Issues {
			fmt.Println(issue)
		}
	}
	fmt.Println(s.Validate(json.RawMessage(`{"title": "A crash"}`)))
	// Output:
	// at /title: want string, got number
	// <nil>
}
