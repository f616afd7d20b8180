package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

func newAuth(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth",
		Short: "Log in to remote servers",
		Long: `Log in to a remote server, log out, and see which tokens there are. A command that meets a server that wants a
login starts one on its own, on a terminal or where $BROWSER is set.`,
		Example: "  mcpctl auth login gh",
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) > 0 {
				return unknownName("unknown command auth", words[0], []string{"login", "logout", "status", "token"}, "mcpctl auth --help")
			}
			return usagef("auth wants login, logout, status or token").withHint("%s --help", cmd.CommandPath())
		},
	}
	c := authCommands{a}
	cmd.AddCommand(c.login(), c.logout(), c.status(), c.token())
	return cmd
}

// authCommands are the commands below auth.
type authCommands struct{ *app }

// tokenStore is where tokens are kept. It is one for a run: it has those that cannot be
// kept.
type tokenStore struct {
	once sync.Once
	auth.Store
}

func (a authCommands) tokenStore() *auth.Store {
	a.tokens.once.Do(func() {
		a.tokens.Path = filepath.Join(config.StateDir(a.getenv), "auth.json")
		a.tokens.Keyring = a.settings.Tokens.Store == "keyring"
	})
	return &a.tokens.Store
}

// dialAuth returns how the credentials of remote servers are obtained.
func (a authCommands) dialAuth() *dial.Auth {
	if config.StateDir(a.getenv) == "" {
		return nil
	}
	d := &dial.Auth{Store: a.tokenStore(), Config: a.settings.Auth}
	if p := a.person(false); p != nil {
		d.Person = p
	}
	return d
}

// person returns who can be asked to log in, nil for nobody. asked says that this is
// what the command is for.
func (a authCommands) person(asked bool) *person {
	if asked || !a.settings.NoInput && (a.ui.CanAsk() || a.getenv("BROWSER") != "") {
		return &person{a: a.app}
	}
	return nil
}

// person is the user at the terminal.
type person struct {
	a *app
}

func (p *person) Show(ctx context.Context, page string) (paste bool, err error) {
	u := p.a.ui
	if p.a.settings.NoBrowser {
		_, err := fmt.Fprintf(u.Err, "Open this page to log in:\n\n  %s\n\n", ui.CleanLine(page))
		return u.CanAsk(), err
	}
	if err := ui.OpenBrowser(ctx, p.a.getenv, page); err != nil {
		_, err = fmt.Fprintf(u.Err, "No browser could be opened (%v). Open this page to log in:\n\n  %s\n\n", err, ui.CleanLine(page))
		return u.CanAsk(), err
	}
	u.Note("Log in with the browser that has been opened. If there is none, open this page:\n\n  %s\n", ui.CleanLine(page))
	return false, nil
}

func (p *person) Paste(ctx context.Context) (string, error) {
	return p.a.ui.Asker().Input(ctx, ui.Question{Message: "The address that the browser ends at, if it cannot reach this machine"})
}

// authorizer returns what obtains credentials for a server.
func (a authCommands) authorizer(entry config.Entry) (*auth.Authorizer, error) {
	x, err := entry.Expand(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	z := (&dial.Auth{Store: a.tokenStore(), Config: a.settings.Auth}).Authorizer(x, a.log, x.Redactor())
	if z == nil {
		return nil, a.noLogin(entry)
	}
	return z, nil
}

// noLogin says why nobody logs in to a server.
func (a authCommands) noLogin(entry config.Entry) error {
	if entry.URL == "" {
		return usagef("%s is no remote server: a program gets its credentials by env", entry.Name)
	}
	return usagef("%s has credentials of its own in its entry", entry.Name).withHint("mcpctl get %s", entry.Name)
}

func (a authCommands) login() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in to a server",
		Long: `Log in to a remote server with the browser, or as its entry's auth says, and keep the token. With --no-browser the
page's address is printed; where the browser runs on another machine, paste the address that it ends at.`,
		Example: "  mcpctl auth login gh\n  mcpctl auth login gh --no-browser",
	}
	return a.onEntry(cmd, func(ctx context.Context, entry config.Entry) error {
		z, err := a.authorizer(entry)
		if err != nil {
			return err
		}
		challenge, err := a.challengeOf(ctx, entry)
		if err != nil {
			return err
		}
		z.Attend(a.person(true))
		t, err := z.Login(ctx, challenge)
		if err != nil {
			return err
		}
		if a.ui.WantJSON() {
			return a.ui.EncodeJSON(a.statusOf(entry.Name, t))
		}
		_, err = fmt.Fprintf(a.ui.Out, "logged in to %s%s\n", ui.CleanLine(entry.Name), until(t))
		return err
	})
}

// until says when a token ends, "" where nothing is known.
func until(t auth.Token) string {
	if t.Expires.IsZero() {
		return ""
	}
	return ", until " + t.Expires.Local().Format(time.DateTime)
}

// challengeOf asks a server what it wants; "" for nothing.
func (a authCommands) challengeOf(ctx context.Context, entry config.Entry) (string, error) {
	o := a.dialOptions(entry)
	o.Auth = nil
	c, err := dial.Dial(ctx, entry, o)
	if err == nil {
		_ = c.Close()
		return "", nil
	}
	if refused, ok := errors.AsType[*runtime.AuthError](err); ok {
		return refused.Challenge, nil
	}
	return "", err
}

// onEntry makes cmd a command on the entry of a server, or on --url.
func (a authCommands) onEntry(cmd *cobra.Command, run func(ctx context.Context, entry config.Entry) error) *cobra.Command {
	a.completeServer(cmd)
	cmd.Args = cobra.ArbitraryArgs // settings, and --url with them, are read later
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if len(words) > 1 || (len(words) == 1) == (a.settings.URL != "") {
			return usagef("want one SERVER, or --url").withHint("%s --help", cmd.CommandPath())
		}
		entry, err := a.entryOrURL(strings.Join(words, ""))
		if err != nil {
			return err
		}
		return a.withServer(entry.Name, run(cmd.Context(), entry))
	}
	return cmd
}

// canonicalOf returns the address that a server's tokens are kept under, "" for none.
func canonicalOf(entry config.Entry) string {
	x, err := entry.Expand(os.LookupEnv)
	if err != nil || entry.URL == "" {
		return ""
	}
	u, err := url.Parse(x.URL.Reveal())
	if err != nil {
		return ""
	}
	return auth.Canonical(u)
}

func (a authCommands) logout() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "logout SERVER",
		Short:   "Forget a server's token, and have it revoked where that is possible",
		Long:    "Forget the token of a server. The authorization server is told that it is not used any more, where it takes such word.",
		Example: "  mcpctl auth logout gh",
	}
	return a.onEntry(cmd, func(ctx context.Context, entry config.Entry) error {
		gone, err := a.tokenStore().Remove(ctx, canonicalOf(entry))
		if err != nil {
			return err
		}
		if len(gone) == 0 {
			_, err := io.WriteString(a.ui.Out, "there is no token for "+ui.CleanLine(entry.Name)+"\n")
			return err
		}
		for _, t := range gone {
			if _, err := auth.Revoke(ctx, t); err != nil {
				a.log.Warn("the token is forgotten here and not revoked", "err", err)
			}
		}
		_, err = io.WriteString(a.ui.Out, "logged out of "+ui.CleanLine(entry.Name)+"\n")
		return err
	})
}

func (a authCommands) token() *cobra.Command {
	var header bool
	cmd := &cobra.Command{
		Use:   "token SERVER",
		Short: "Print a server's token, for scripts",
		Long: `Print the access token of a server, refreshed where it is about to end. With --header the line that a request
needs. Nobody is asked to log in.`,
		Example: `  curl -H "$(mcpctl auth token gh --header)" https://api.example.com/mcp`,
	}
	cmd.Flags().BoolVar(&header, "header", false, "print the whole header line")
	return a.onEntry(cmd, func(ctx context.Context, entry config.Entry) error {
		z, err := a.authorizer(entry)
		if err != nil {
			return err
		}
		t, err := z.Current(ctx)
		switch {
		case err != nil:
			return err
		case t.Access == "":
			return &Error{Code: exitAuth, Err: fmt.Errorf("there is no token for %s", entry.Name), Remedy: auth.LoginCommand(entry.Name)}
		}
		line := t.Access
		if header && t.Type != "" {
			return usagef("the token of %s is bound to a key: a header alone is no use", entry.Name)
		}
		if header {
			line = "Authorization: Bearer " + line
		}
		_, err = io.WriteString(a.ui.Out, line+"\n")
		return err
	})
}

// authStatuses is what auth status prints.
type authStatuses struct {
	Servers []authStatus `json:"servers"`
	Store   authPlace    `json:"store"`
}

// authPlace is where tokens are kept.
type authPlace struct {
	Kind string `json:"kind"` // see settings.Tokens
	At   string `json:"at"`
}

// authStatus is one line of auth status.
type authStatus struct {
	Name    string    `json:"name"`
	Issuer  string    `json:"issuer,omitempty"`
	Scopes  []string  `json:"scopes"`
	Expires time.Time `json:"expiresAt,omitzero"`
	// Refresh is when the token is refreshed next; zero is never.
	Refresh time.Time `json:"refreshAt,omitzero"`
	Source  string    `json:"source"`
}

func (a authCommands) statusOf(name string, t auth.Token) authStatus {
	s := authStatus{Name: name, Issuer: t.Issuer, Scopes: t.Scopes, Expires: t.Expires.Truncate(time.Second), Source: t.Source}
	if s.Scopes == nil {
		s.Scopes = []string{}
	}
	if t.Refresh != "" && !t.Expires.IsZero() {
		s.Refresh = t.Expires.Add(-auth.RefreshAhead).Truncate(time.Second)
	}
	return s
}

func (a authCommands) status() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [SERVER...]",
		Short: "Show which tokens there are, and when they end",
		Long: `Show the tokens that are kept: for which server, from whom, for what, until when and when they are refreshed.
As JSON: {"servers":[{"name","issuer","scopes","expiresAt","refreshAt","source"}],"store":{"kind","at"}}, where kind is
file or keyring: see auth.store of config.yaml.`,
		Example: "  mcpctl auth status\n  mcpctl auth status gh --json",
	}
	a.completeServers(cmd)
	cmd.RunE = func(_ *cobra.Command, words []string) error {
		all, err := a.tokenStore().Tokens("")
		if err != nil {
			return err
		}
		names, wanted, err := a.namesOfTokens(words)
		if err != nil {
			return err
		}
		out := []authStatus{}
		for _, t := range all {
			name, ok := names[t.Server]
			if !ok {
				name = t.Server
			}
			if len(words) == 0 || wanted[t.Server] {
				out = append(out, a.statusOf(name, t))
			}
		}
		if a.ui.WantJSON() {
			return a.ui.EncodeJSON(authStatuses{out, authPlace{a.settings.Tokens.Store, a.tokenStore().Place()}})
		}
		return a.printAuthStatus(out)
	}
	return cmd
}

// namesOfTokens returns the names of configured servers by their addresses, and the
// addresses of some.
func (a authCommands) namesOfTokens(words []string) (names map[string]string, wanted map[string]bool, err error) {
	names, wanted = map[string]string{}, map[string]bool{}
	for _, name := range words {
		entry, err := a.entry(name)
		if err != nil {
			return nil, nil, err
		}
		wanted[canonicalOf(entry)] = true
	}
	f, err := a.loadConfig()
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range f.Entries() {
		if at := canonicalOf(entry); at != "" {
			names[at] = entry.Name
		}
	}
	return names, wanted, nil
}

func (a authCommands) printAuthStatus(all []authStatus) error {
	at := ui.CleanLine(a.tokenStore().Place())
	if len(all) == 0 {
		_, err := io.WriteString(a.ui.Out, "no tokens are kept in "+at+"\n")
		return err
	}
	var rows [][]string
	for _, s := range all {
		ends := "not said"
		switch {
		case s.Expires.IsZero():
		case time.Now().After(s.Expires):
			ends = "ended"
		default:
			ends = "in " + time.Until(s.Expires).Round(time.Second).String()
		}
		if !s.Refresh.IsZero() {
			ends += ", is refreshed"
		}
		rows = append(rows, []string{s.Name, s.Issuer, strings.Join(s.Scopes, " "), ends, s.Source})
	}
	if err := a.ui.NameTable([]string{"SERVER", "ISSUER", "SCOPES", "ENDS", "SOURCE"}, rows); err != nil {
		return err
	}
	_, err := io.WriteString(a.ui.Out, "\nkept in "+at+"\n")
	return err
}
