package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Problem is one thing wrong with a configuration file. As an error it is
// fatal to the file or to one entry; in [File.Warnings] it is not.
type Problem struct {
	// File is the path as it was given.
	File string
	// Line and Column are where it is, counted from 1 in lines and characters;
	// both 0 where it concerns the file as a whole.
	Line, Column int
	// Server is the entry concerned, "" for the file itself.
	Server string
	// Message says what is wrong, Remedy how to fix it ("" when unknown).
	Message string
	Remedy  string
}

// Error returns FILE:LINE:COLUMN: MESSAGE.
func (p *Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		if IsInline(p.File) {
			b.WriteString(InlineVariable + ":")
		} else {
			b.WriteString(p.File + ":")
		}
		if p.Line > 0 {
			b.WriteString(strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + ":")
		}
		b.WriteByte(' ')
	}
	if p.Server != "" {
		b.WriteString("server " + strconv.Quote(p.Server) + ": ")
	}
	return b.String() + p.Message
}

// Hint returns the remedy.
func (p *Problem) Hint() string { return p.Remedy }

// ExitKind is "config".
func (*Problem) ExitKind() string { return "config" }

// NotFoundError says that no server has this alias.
type NotFoundError struct {
	Server string
	// Nearest are configured aliases that look alike, best first.
	Nearest []string
	// Empty reports that no server is configured at all.
	Empty bool
}

// Error names the alias.
func (e *NotFoundError) Error() string {
	return "unknown server " + strconv.Quote(e.Server)
}

// Hint names the nearest aliases, or the command that lists all.
func (e *NotFoundError) Hint() string {
	switch {
	case len(e.Nearest) > 0:
		return "did you mean " + strings.Join(e.Nearest, " or ") + "?"
	case e.Empty:
		return "no server is configured yet; mcpctl add adds one"
	}
	return "mcpctl list shows the configured servers"
}

// ExitKind is "usage".
func (*NotFoundError) ExitKind() string { return "usage" }

// ExistsError says that an alias is taken.
type ExistsError struct{ Server string }

// Error names the alias.
func (e *ExistsError) Error() string {
	return "the alias " + strconv.Quote(e.Server) + " is taken"
}

// Hint names the two flags that help.
func (*ExistsError) Hint() string {
	return "--as ALIAS gives another name, --replace overwrites the entry"
}

// ExitKind is "config".
func (*ExistsError) ExitKind() string { return "config" }

// AliasError says why a word cannot be an alias.
type AliasError struct {
	Alias, Reason, Remedy string
}

// Error returns the alias and the reason.
func (e *AliasError) Error() string {
	return "alias " + strconv.Quote(e.Alias) + ": " + e.Reason
}

// Hint returns the rule or a word that would do.
func (e *AliasError) Hint() string { return e.Remedy }

// ExitKind is "usage".
func (*AliasError) ExitKind() string { return "usage" }

// MissingVariable is a placeholder without a value.
type MissingVariable struct {
	// Field is its place, such as "env.TOKEN" or "args[2]".
	Field, Variable string
}

// VariableError says that variables which an entry needs are not set. It lists
// all of them, in the order of command, args, env, cwd, url, headers.
type VariableError struct {
	Server  string
	Missing []MissingVariable
}

// Error names server, fields and variables.
func (e *VariableError) Error() string {
	parts := make([]string, len(e.Missing))
	for i, m := range e.Missing {
		parts[i] = m.Field + " needs the environment variable " + m.Variable
	}
	return fmt.Sprintf("server %q: %s, which is not set", e.Server, strings.Join(parts, ", and "))
}

// Hint shows how to set them.
func (e *VariableError) Hint() string {
	var words []string
	seen := map[string]bool{}
	for _, m := range e.Missing {
		if !seen[m.Variable] {
			seen[m.Variable] = true
			words = append(words, m.Variable+"=…")
		}
	}
	return "export " + strings.Join(words, " ") + `, give a default as in ${` + e.Missing[0].Variable + `:-text}, or put "missingEnv": "empty" into the entry`
}

// ExitKind is "config".
func (*VariableError) ExitKind() string { return "config" }
