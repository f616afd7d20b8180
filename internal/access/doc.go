// Package access says who asks: it makes a [Principal] of the credential of a request,
// or says why it does not.
//
// It does no I/O. Endpoints extract credentials and write refusals, and package authn
// keeps tokens.
package access
