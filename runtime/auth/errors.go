package auth

import (
	"errors"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// Error says why a server's credentials could not be obtained.
type Error struct {
	runtime.AuthError
	Server string // its name
	Err    error
	// principal is whose credentials they are, "" for this machine's user.
	principal string
	used      string // the token that was refused, "" for none
}

func newError(server string, status int, challenge string, err error) *Error {
	return &Error{AuthError: runtime.AuthError{Status: status, Challenge: challenge}, Server: server, Err: err}
}

// Error returns why.
func (e *Error) Error() string {
	return "the server wants authorisation: " + e.Err.Error()
}

// Unwrap returns the refusal and why it could not be answered.
func (e *Error) Unwrap() []error { return []error{&e.AuthError, e.Err} }

// Hint returns the command that mends it.
func (e *Error) Hint() string {
	unnamed, ok := errors.AsType[*UnnamedError](e.Err)
	switch {
	case ok:
		return unnamed.hint(e.Server)
	case e.principal != "":
		return "" // no command of theirs obtains them
	case errors.Is(e.Err, errNobody):
		return LoginCommand(e.Server)
	case errors.Is(e.Err, errInsecure):
		return AllowHTTPHint
	case errors.Is(e.Err, errToken):
		return LoginCommand(e.Server)
	case e.noOAuth():
		return "where the server takes a token that is made by hand: " + LoginCommand(e.Server) + " --token-stdin"
	}
	return ""
}

func (e *Error) noOAuth() bool {
	_, ok := errors.AsType[noOAuth](e.Err)
	return ok
}

// NeedsPerson reports whether a person has to log in, or to type a token.
func (e *Error) NeedsPerson() bool {
	return errors.Is(e.Err, errNobody) || e.principal == "" && e.noOAuth()
}

// LoginCommand returns the command that logs in to a server, by its name, or by its
// address where it is in no configuration.
func LoginCommand(server string) string {
	if strings.Contains(server, "://") {
		return "mcpctl --url " + server + " auth login"
	}
	return "mcpctl auth login " + server
}
