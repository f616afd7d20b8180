// Package login is the user at the terminal when a server wants credentials, and what is
// printed of the tokens that are kept.
package login
