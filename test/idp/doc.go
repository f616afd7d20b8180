// Package idp is an identity provider for tests of who may reach serve: an issuer of
// tokens with its keys, of right ones and of all wrong ones, and an authority that signs
// certificates. It uses the standard library alone.
package idp
