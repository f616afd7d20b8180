// Package control finds this user's running serve processes and queries their
// status. Each listens on a socket of its own in the file system, named after its
// process id, which no other user can reach, and speaks HTTP there: GET /status
// returns a JSON object, GET /healthz {"status":"ok"}.
//
// The sockets are in the directory run of the state directory. Where that path is
// too long for a socket's name they are in a directory for temporary files, whose
// name both sides compute from the state directory. Windows has such sockets since
// version 10.
package control
