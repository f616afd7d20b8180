// Package codegen supports generated clients: it encodes, decodes and checks their
// types, makes their calls, and knows what they were generated from. Programs that
// use a generated client need not import it.
//
// It needs only the standard library and package runtime.
package codegen
