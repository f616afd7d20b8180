// Package attacks tries to make mcpctl do what it must not: hosts, origins,
// sessions, messages, names, answers, records of registries, programs and files
// that want what belongs to another. Each case is a line of a table with the
// answer that it has to get, and runs against the program itself, over HTTP, over
// standard input and on the command line.
//
// The tests need Linux and the build tag attacks: make attacks runs them all,
// make attacks-short those that fit into CI. make attacks-breaks takes each
// defence out of the program, one at a time, and checks that cases turn red: see
// test/reports/attacks-breaks.md. Which case is about which promise stands in
// docs/security.md.
package attacks
