// Package codegen is what generated clients call: it encodes, decodes and checks their types,
// makes their calls, and knows the definitions that they were generated from. Programs that use
// a generated client do not import it.
//
//	type Params struct {
//		Title string `json:"title"`
//	}
//
//	func (p Params) Validate() error {
//		return codegen.At(codegen.Length(p.Title, 1, 80), "title")
//	}
//
// [Client] makes calls through any [runtime.Caller]: a connection of package dial, a recording of
// package fixture, or a server of package double.
//
// # What decoding keeps
//
// A number keeps its digits, and a member that a schema does not name stays in the value's extra
// members: what is decoded and encoded again is equal. [Unmarshal] and [Marshal] never escape HTML.
//
// # Errors
//
// A value that does not fit its schema is a [*runtime.FieldError] with the JSON pointer of the place,
// which [At] extends on the way up. A call checks its arguments before anything is sent.
//
// # Compatibility
//
// Code that an earlier version of mcpctl generated compiles with this one: functions are added
// here, and stay as they are. The package needs package runtime and the standard library alone.
// All functions may be called concurrently.
package codegen
