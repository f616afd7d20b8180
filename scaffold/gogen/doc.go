// Package gogen turns the tools of an MCP server into Go source: a typed
// client with one method and one parameter struct a tool.
//
// Data flows one way: tool schemas are normalised (schema.go, merge.go) and
// built into a small intermediate representation (ir.go, build.go), names are
// chosen for all of it at once (names.go, scope.go), and source is emitted from
// the representation only, never from a schema (emit*.go).
//
// Output depends on the input alone: not on the order of tools, properties or
// map iteration, nor on time, machine or paths. The package writes no files.
//
// What a schema says and Go's types cannot becomes json.RawMessage with a
// comment and a [Warning]; it does not fail the run. No result is typed more
// narrowly than its schema allows.
package gogen
