// Package control is how mcpctl finds the processes of this user that serve,
// and asks them what they do. Each listens on a socket of its own in the file
// system, named after its process id, which no other user can reach, and speaks
// HTTP there: GET /status gives a JSON object, GET /healthz {"status":"ok"}.
//
// The sockets are in the folder run of the state directory. Where that path is
// too long for a socket's name they are in a folder of the system's place for
// temporary files, whose name both sides compute from the state directory.
// Windows has such sockets since version 10.
package control
