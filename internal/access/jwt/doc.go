// Package jwt accepts access tokens that are JWTs (RFC 9068, RFC 8725): it verifies the
// signature of a token with the keys of its issuer, checks its claims, and makes a
// principal of them. It does no I/O; who has the keys is a [Keys].
//
// A token that has been accepted is remembered for a while, so that it is not verified
// for each request. It is accepted no longer than the key that has signed it.
package jwt
