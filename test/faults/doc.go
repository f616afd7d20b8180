// Package faults runs mcpctl serve between servers and clients that misbehave,
// and looks each time at what has to hold: no process is left, no answer is
// another's, every request is answered or refused within its bound, memory and
// files come back to where they were, and nobody else notices.
//
// The tests need Linux, where /proc shows what is left, and the build tag
// faults: make faults runs them all, make faults-short those that fit into CI,
// make soak faults at random for ten minutes.
package faults
