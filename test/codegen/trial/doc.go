// Package trial holds what generated code is tried with: the cases of
// testdata, and random schemas and values. It is for tests alone.
package trial
