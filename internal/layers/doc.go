// Package layers finds the servers.json files that hold together: that of the system,
// that of the user, and that of the project in whose folder a program runs. By alias the
// project's entry counts before the user's, and the user's before the system's.
//
// Whoever can write to a folder can put a project file into it. So a project file is used
// only when the user has trusted what it says of servers, by its digest; see [Trust].
package layers
