// Package tokenstore keeps the tokens of remote servers, and the registrations with
// those who issue them: in one file, or in the keyring of the system.
//
// The file is private to its owner and replaced whole. A lock beside it is held while
// tokens are written, another while one is refreshed; both are left where they are.
package tokenstore
