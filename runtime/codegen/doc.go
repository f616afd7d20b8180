// Package codegen is what generated clients are made of: how their types are
// written and read as JSON and checked, how their calls are made, what they
// were generated from. Programs that use a generated client need not import
// it.
//
// It needs the standard library and package runtime, nothing else.
package codegen
