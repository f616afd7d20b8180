package codegen_test

import (
	"fmt"

	"github.com/mcpctl/mcpctl/runtime/codegen"
)

// Example decodes a value and checks it, as generated types do.
func Example() {
	var i struct {
		Title string `json:"title"`
	}
	err := codegen.Unmarshal([]byte(`{"title":"A crash"}`), &i)
	fmt.Println(i.Title, err)

	fmt.Println(codegen.At(codegen.Length("", 1, 80), "title"))
	// Output:
	// A crash <nil>
	// at /title: has 0 characters, fewer than 1
}
