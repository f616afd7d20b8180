// Package schema reads the JSON Schemas that tools declare for their arguments
// and results, answers what a value at some place may look like, and validates
// raw JSON against them.
//
// The dialect is 2020-12 unless "$schema" declares another one of draft-04 to
// 2020-12; a declared dialect that is none of them is an error (2026-07-28,
// Tools, "JSON Schema Usage"). Nothing is ever fetched: a "$ref" that leaves
// the document is an error. "format" is an annotation in every dialect. A
// "pattern" that is no regular expression of ECMA-262, or takes more than a
// tenth of a second, is not checked: a server knows better than a client which
// value it takes.
//
// Numbers keep every digit. Depth and size of schemas, digits of numbers, and
// the work of one validation are bounded. A *Schema may be used concurrently.
package schema
