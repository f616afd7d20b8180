package runtime_test

import (
	"encoding/json"
	"fmt"

	"github.com/mcpctl/mcpctl/runtime"
)

// The three states of a member that may be absent and may be null.
func ExampleOpt() {
	type params struct {
		Note runtime.Opt[string] `json:"note,omitzero"`
	}
	for _, p := range []params{
		{},                             // absent
		{Note: runtime.Null[string]()}, // null
		{Note: runtime.Some("")},       // there, and empty
	} {
		b, err := json.Marshal(p)
		fmt.Println(string(b), err)
	}
	// Output:
	// {} <nil>
	// {"note":null} <nil>
	// {"note":""} <nil>
}

// Numbers beyond what a float64 holds, and members nobody knows, stay as they
// came.
func ExampleToolResult() {
	r, err := runtime.ParseToolResult([]byte(`{"content":[{"type":"text","text":"done"}],"structuredContent":{"id":9007199254740993},"x":1.0}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Text())
	fmt.Println(string(r.Structured))
	fmt.Println(string(r.Raw))
	// Output:
	// done
	// {"id":9007199254740993}
	// {"content":[{"type":"text","text":"done"}],"structuredContent":{"id":9007199254740993},"x":1.0}
}
