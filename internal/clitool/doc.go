// Package clitool makes a server of a command-line tool. What the tool prints as its
// help becomes tools with schemas; a call runs the program once.
//
// # What a caller can reach
//
// A caller chooses a tool and gives values. The program gets its arguments as a list,
// never through a shell, and the words that are no values come from the help or from
// the entry:
//
//   - the words of the subcommand, which are fixed
//   - flags that the help names, each in one word with its value where the tool has
//     long flags; a value that begins with a dash is refused where it could be read as
//     another flag
//   - positional values, which do not begin with a dash unless "--" stands before them,
//     and which are no subcommands of a command that has some
//   - words of the caller's own, only where the entry allows them, and then only flags
//     that the entry does not keep back
//
// # Locks
//
// Transport.mu guards the outputs that are kept. No other lock is held with it.
package clitool
