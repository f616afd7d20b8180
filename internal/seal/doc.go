// Package seal turns text that a client keeps for us into what nobody else can
// read, change or make: cursors, states of interrupted calls, handles of tasks.
//
// It owns the keys, in memory or in a file that processes share. One lock guards
// a ring's keys; it is held across file access once a day and for keys that are
// not in memory. It does not know what is sealed: a purpose, which is part of
// what is authenticated, keeps the kinds apart.
package seal
