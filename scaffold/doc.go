// Package scaffold turns a registry record into an entry of servers.json: it
// chooses what to run, writes the command line or URL, puts a placeholder
// where a person must give a value, and says what that person should know.
//
// It is pure: no file, no environment, no network; the same record and options
// give the same bytes. It runs nothing and looks for no program, so the choice
// does not depend on the machine.
//
// What a registry serves was written by strangers. Its text never expands: a
// dollar is written so that reading the entry gives it back, and the only
// placeholders in an entry are those this package made and those the user
// typed. What it may set is on lists: the options of each runner, with the
// values they may have; names and versions by their registry's grammar; mounts
// that the user names; variables that choose no program, code or address. The
// rest is refused ([RefusedError]) unless the user forces it.
package scaffold
