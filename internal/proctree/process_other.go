//go:build unix && !linux && !darwin

package proctree

// StartOf returns 0: not known.
func StartOf(int) uint64 { return 0 }

// Find finds nothing.
func Find(int) (Process, bool) { return Process{}, false }

// Look returns false: it is not known who lives.
func Look(func(int) bool, func(string) bool, uint64) ([]Process, bool) { return nil, false }

// deserted returns false: it is not known.
func (Tree) deserted(func(int) bool, func(string) bool) bool { return false }

// Environ returns nothing.
func Environ(int) []byte { return nil }
