// Package auth obtains the credentials of remote servers, as an OAuth client of 2025-11-25 and
// 2026-07-28 does: a stored token, a refreshed one, or a new one by the grant that the entry of
// the server names. An [Authorizer] is the transport.Authorizer of one server.
//
//	a := auth.New(auth.Options{Server: address, Name: "gh", Store: &auth.Store{Path: "tokens.json"}})
//	t, err := transport.NewHTTP(address.String(), transport.HTTPOptions{Authorizer: a})
//
// Without a Prompter in the options nobody can log in, and a server that wants it is an [*Error]
// whose hint is the command to run.
//
// # What a server may name
//
// A server may lead a client anywhere. What it names is reached through an HTTP client of this
// package, which goes to https addresses that are no further inside a network than the server
// itself, and follows no redirect to another origin.
//
// # Secrets
//
// Tokens are in the [Store], and in memory as plain text. Nothing here prints one: the String of a
// [Token] and a [Secret] shows none of it.
//
// # Concurrency
//
// All methods may be called concurrently. A lock of the store is held while a token is refreshed,
// so that one of many processes asks. Authorizer.asking is taken before it, and its mu last.
package auth
