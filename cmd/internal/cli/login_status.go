package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// Status is a kept token in the output of mcpctl auth status.
type Status struct {
	Name string `json:"name"`
	// Principal is whose it is, by the ID, "" for this machine's user: serve uses that
	// one for all.
	Principal string    `json:"principal,omitempty"`
	Issuer    string    `json:"issuer,omitempty"`
	Scopes    []string  `json:"scopes"`
	Expires   time.Time `json:"expiresAt,omitzero"`
	// Refresh is when the token is refreshed next; zero is never.
	Refresh time.Time `json:"refreshAt,omitzero"`
	Source  string    `json:"source"`
	// Login is the command that gets another token, where a person has to do that soon.
	Login string `json:"login,omitempty"`
}

// StatusOf returns the status of the token of a server, by its name.
func StatusOf(name string, t tokenstore.Token) Status {
	s := Status{Name: name, Principal: t.Principal, Issuer: t.Issuer, Scopes: t.Scopes, Expires: t.Expires.Truncate(time.Second), Source: t.Source}
	if s.Scopes == nil {
		s.Scopes = []string{}
	}
	if t.Refresh != "" && !t.Expires.IsZero() {
		s.Refresh = t.Expires.Add(-auth.RefreshAhead).Truncate(time.Second)
	}
	if t.NeedsLogin(time.Now()) && t.Principal == "" {
		s.Login = auth.LoginCommand(name)
	}
	return s
}

// Statuses returns the statuses of tokens. names are those of servers by their addresses:
// others are called by the address itself.
func Statuses(tokens []tokenstore.Token, names map[string]string) []Status {
	out := []Status{}
	for _, t := range tokens {
		name, ok := names[t.Server]
		if !ok {
			name = t.Server
		}
		out = append(out, StatusOf(name, t))
	}
	return out
}

// StatusReport is what mcpctl auth status prints.
type StatusReport struct {
	Servers []Status `json:"servers"`
	Store   Place    `json:"store"`
}

// Place is where tokens are kept.
type Place struct {
	Kind string `json:"kind"` // see settings.Tokens
	At   string `json:"at"`
	// Accounts is where those of principals are, "" where there are none.
	Accounts string `json:"accounts,omitempty"`
}

// Print prints statuses for people.
func (r *StatusReport) Print(u *ui.UI) error {
	all, place := r.Servers, ui.CleanLine(r.Store.At)
	if len(all) == 0 {
		_, err := io.WriteString(u.Out, "no tokens are kept in "+place+"\n")
		return err
	}
	head, rows := []string{"SERVER", "ISSUER", "SCOPES", "ENDS", "SOURCE"}, make([][]string, len(all))
	if r.Store.Accounts != "" {
		head = slices.Insert(head, 1, "PRINCIPAL")
	}
	for i, s := range all {
		rows[i] = []string{s.Name, s.Issuer, strings.Join(s.Scopes, " "), s.Ends(), s.Source}
		if r.Store.Accounts != "" {
			rows[i] = slices.Insert(rows[i], 1, cmp.Or(s.Principal, "one for all"))
		}
	}
	if err := u.NameTable(head, rows); err != nil {
		return err
	}
	foot := "\nkept in " + place + "\n"
	if r.Store.Accounts != "" {
		foot += "those of principals: " + ui.CleanLine(r.Store.Accounts) + "\n"
	}
	if _, err := io.WriteString(u.Out, foot); err != nil {
		return err
	}
	for _, s := range all {
		if s.Login != "" {
			u.Info("%s: log in again with: %s", ui.CleanLine(s.Name), s.Login)
		}
	}
	return nil
}

// Ends says when the token ends.
func (s Status) Ends() string {
	left := time.Until(s.Expires).Round(time.Second)
	ends := "in " + left.String()
	switch {
	case s.Expires.IsZero():
		return "not said"
	case left < 0:
		ends = "ended"
	}
	if !s.Refresh.IsZero() {
		ends += ", is refreshed"
	}
	return ends
}
