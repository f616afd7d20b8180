// Package start has tests of what every command pays before it does anything: the size
// of the program, and the initialisation of its packages.
package start
