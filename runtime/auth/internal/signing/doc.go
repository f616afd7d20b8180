// Package signing reads private keys, and signs with them what shows an authorization
// server or a server who we are: assertions and proofs of possession. It keeps nothing.
package signing
