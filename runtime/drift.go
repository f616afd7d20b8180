package runtime

import "strings"

// DriftPolicy decides about a call when the server's tool is not the one that the
// client was generated from.
type DriftPolicy uint8

const (
	// DriftIgnore makes every call without listing tools.
	DriftIgnore DriftPolicy = iota
	// DriftWarn reports the difference and makes the call. A server whose tools
	// cannot be listed is called as if nothing had changed.
	DriftWarn
	// DriftFail makes no call: the error is the [*DriftError]. Where the tools
	// cannot be listed, calls fail with the reason.
	DriftFail
)

// DriftError says that a tool is not the one that a client was generated from:
// its name, input schema, output schema or annotations have changed. Titles
// and descriptions do not count.
type DriftError struct {
	// Server is the server's name in the client's code, or "".
	Server string
	Tool   string
	// Want is the digest of the tool that the client was generated from, Got
	// that of the server's, "" where the server has no such tool.
	Want, Got string
	// Changes are the differences. A client compares digests, and so knows only
	// that the tool is gone or changed; `mcpctl generate --check` shows more.
	Changes []Change
}

// Change is one difference between two definitions of a tool.
type Change struct {
	// Pointer is the place in the definition, a JSON pointer such as
	// "/inputSchema/required/0"; "" is all of it.
	Pointer string
	// Message is one clause, such as "is not required any more".
	Message string
}

// Error names the tool and what is different.
func (e *DriftError) Error() string {
	var b strings.Builder
	b.WriteString("tool ")
	b.WriteString(e.Tool)
	if e.Server != "" {
		b.WriteString(" of ")
		b.WriteString(e.Server)
	}
	if e.Got == "" {
		b.WriteString(" is gone")
	} else {
		b.WriteString(" has changed")
	}
	b.WriteString(" since the client was generated")
	for i, c := range e.Changes {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		if c.Pointer != "" {
			b.WriteString(c.Pointer)
			b.WriteByte(' ')
		}
		b.WriteString(c.Message)
	}
	return b.String()
}

// Hint returns the remedy.
func (e *DriftError) Hint() string {
	return "regenerate the client; mcpctl generate --check shows what differs"
}

// ExitKind returns the kind of failure on a command line.
func (e *DriftError) ExitKind() string { return "drift" }
