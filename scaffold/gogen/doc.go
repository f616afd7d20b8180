// Package gogen turns the tools of an MCP server into Go source: a typed
// client with one method and one parameter struct a tool.
//
// Data flows one way: schemas are read (internal/jsonschema) and built into a
// model (internal/build, internal/model), names are chosen for all of it at once
// (internal/names), and source is written from the model only, never from a
// schema (internal/emit).
//
// Output depends on the input alone: not on the order of tools, properties or
// map iteration, nor on time, machine or paths. The package writes no files.
//
// What Go's types cannot express becomes json.RawMessage with a comment and a
// [Warning]; it does not fail the run. No result is typed more narrowly than its
// schema allows.
package gogen
