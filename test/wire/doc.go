// Package wire has what suites share that run mcpctl as a program and speak to
// it in bytes of their own: starting it and looking at what it leaves, reading
// what it says, and HTTP that no library has put right.
package wire
