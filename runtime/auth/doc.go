// Package auth obtains the credentials of remote servers: a token that is kept, a
// refreshed one, or a new one by the grant of the server's entry. An [Authorizer] is
// the transport.Authorizer of one server.
//
// A server may lead us anywhere, so what it names is reached through a client of its
// own, which goes to https addresses that are no further inside a network than the
// server itself, and follows no redirect to another origin.
//
// Tokens are kept by package tokenstore, and in memory as plain text; nothing here
// prints one. A lock of the store is held while a token is refreshed: of many processes
// one asks. Authorizer.asking is taken before it, and its mu last.
package auth
