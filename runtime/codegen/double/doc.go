// Package double supports generated test doubles: a [Server] in the test's own
// process that answers a generated client by functions with typed parameters and
// results, or from fixtures.
//
// A double enforces the schemas, as a server would: arguments are decoded and
// checked before a function gets them, results are checked and encoded before the
// client gets them. A call without an answer fails the test.
package double
