package dial

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// CredentialError says that a server refuses a credential that it got in a header.
type CredentialError struct {
	Header    string
	Variables []string // that are in it

	entry  config.Entry
	own    bool   // the header is the entry's
	server string // its URL, for people
	said   string // what it says
	login  bool   // it leads to an authorization server
	err    *transport.StatusError
}

// refusedCredential returns a refusal of a server that got a credential in a header as a
// [*CredentialError], and any other error as it is. headers are those besides the entry's.
func refusedCredential(x config.Expanded, headers map[string]string, err error) error {
	refusal, ok := errors.AsType[*transport.StatusError](err)
	if !ok {
		return err
	}
	why, ok := errors.AsType[*runtime.AuthError](refusal.Cause)
	if !ok {
		return err
	}
	all := withHeaders(x.Entry, headers)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return secret.PublicHeader(name) })
	if len(names) == 0 {
		return err
	}
	name := names[0]
	if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, "Authorization") }); i >= 0 {
		name = names[i]
	}
	own := x.Entry.Raw != nil
	for n := range headers {
		own = own && !strings.EqualFold(n, name)
	}
	variables, _ := config.Variables(all[name])
	redact := x.Redactor()
	return &CredentialError{
		Header: name, Variables: variables, entry: x.Entry, own: own,
		server: redact.String(config.DisplayURL(x.URL.Reveal())), said: redact.String(refusal.Said()), login: strings.Contains(why.Challenge, "resource_metadata"), err: refusal,
	}
}

// Error names the header and what the server says.
func (e *CredentialError) Error() string {
	text := "the server refuses the credential in header " + e.Header
	if e.said != "" {
		text += ": " + e.said
	}
	return text
}

// Unwrap returns the server's answer.
func (e *CredentialError) Unwrap() error { return e.err }

// Fix returns the command that gives mcpctl another credential, "" for none, and what to do
// before.
func (e *CredentialError) Fix() (command, remark string) {
	switch {
	case len(e.Variables) > 0:
		command = "export " + strings.Join(e.Variables, "=… ") + "=…"
	case e.own:
		command = "mcpctl config set " + e.entry.Name + ".headers." + e.Header + " …"
	}
	return command, "ask who runs " + e.server + " for another one"
}

// Hint returns how to get another credential, or how to do without.
func (e *CredentialError) Hint() string {
	command, remark := e.Fix()
	if command == "" {
		command = "send that in header " + e.Header
	}
	hint := remark + ", then " + command
	if e.login && e.own {
		hint += "; or log in: mcpctl config unset " + e.entry.Name + ".headers." + e.Header + ", and " + auth.LoginCommand(e.entry.Name)
	}
	return hint
}
