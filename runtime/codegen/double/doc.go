// Package double is what generated test doubles are made of: a [Server] in the
// test's own process that answers a generated client by functions with typed
// parameters and results, or from fixtures.
//
// A double holds its user to the schemas, as a server would: arguments are
// decoded and checked before a function sees them, what it returns is checked
// and encoded before the client does. A call that nothing answers fails the
// test.
package double
