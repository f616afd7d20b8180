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

// Numbers beyond a float64, and unknown members, keep their text.
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

// A tool without an output schema that answers in JSON.
func ExampleJSON() {
	r := &runtime.ToolResult{Content: []runtime.Content{{Type: "text", Text: `{"place":"Oslo","celsius":-3.5}`}}}
	weather, err := runtime.JSON[struct {
		Place   string
		Celsius float64
	}](r)
	fmt.Println(weather.Place, weather.Celsius, err)
	// Output:
	// Oslo -3.5 <nil>
}

// Any text is kept.
func ExampleDateTime() {
	for _, d := range []runtime.DateTime{"2024-05-06T07:08:09.1234567891+02:00", "yesterday"} {
		t, err := d.Time()
		fmt.Println(d, d.Valid(), t.UTC().Year(), err)
	}
	// Output:
	// 2024-05-06T07:08:09.1234567891+02:00 true 2024 <nil>
	// yesterday false 1 "yesterday" is not a date-time (RFC 3339)
}
