// Package screens compares what a person sees, commands of mcpctl on a real terminal (tmux),
// with files in testdata. go test ./test/screens -update writes them again; look at each that
// changes.
package screens
