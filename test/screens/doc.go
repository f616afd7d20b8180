// Package screens holds what a person sees: commands of mcpctl on a real terminal (tmux) of
// 60, 80 and 120 columns, beside files in testdata. go test ./test/screens -update writes
// those anew; look at each that changes.
package screens
