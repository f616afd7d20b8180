package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	_ "github.com/mcpctl/mcpctl/runtime/auth/keyring" // for auth.store: keyring
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

func newAuth(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth",
		Short: "Log in to remote servers",
		Long: `Log in to a remote server, log out, and list the stored tokens. On a terminal, or if $BROWSER is set, a command that
needs a login starts it.`,
		Example: "  mcpctl auth login gh",
	}
	c := authCommands{a}
	cmd.AddCommand(c.login(), c.logout(), c.status(), c.token())
	return parent(cmd)
}

// authCommands are the commands below auth.
type authCommands struct{ *app }

// tokenStore is where tokens are kept. It is one for a run: it has those that cannot be
// kept.
type tokenStore struct {
	once sync.Once
	tokenstore.Store
}

func (a authCommands) tokenStore() *tokenstore.Store {
	a.stored.tokens.once.Do(func() {
		a.stored.tokens.Path = filepath.Join(config.StateDir(a.getenv), "auth.json")
		a.stored.tokens.Keyring = a.settings.Tokens.Store == "keyring"
	})
	return &a.stored.tokens.Store
}

// dialAuth returns how the credentials of remote servers are obtained.
func (a authCommands) dialAuth() *dial.Auth {
	if config.StateDir(a.getenv) == "" {
		return nil
	}
	d := &dial.Auth{Store: a.tokenStore(), Config: a.settings.Auth}
	if p := a.person(false); p != nil {
		d.Prompter = p
	}
	return d
}

// person returns who can be asked to log in, nil for nobody. asked says that this is
// what the command is for.
func (a authCommands) person(asked bool) *Prompter {
	if asked || !a.settings.NoInput && (a.ui.CanAsk() || a.getenv("BROWSER") != "") {
		return &Prompter{UI: a.ui, Getenv: a.getenv, NoBrowser: a.settings.NoBrowser, Asker: a.asker}
	}
	return nil
}

// authorizer returns what obtains credentials for a server.
func (a authCommands) authorizer(entry config.Entry) (*auth.Authorizer, error) {
	entry.AllowInsecureHTTP = entry.AllowInsecureHTTP || a.settings.AllowInsecureHTTP
	x, err := entry.Expand(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	redact := x.Redactor()
	log := slog.New(redact.Handler(a.log.Handler()))
	z := (&dial.Auth{Store: a.tokenStore(), Config: a.settings.Auth}).Authorizer(x, log, redact)
	if z == nil {
		return nil, a.noLogin(entry)
	}
	return z, nil
}

// noLogin says why nobody logs in to a server.
func (a authCommands) noLogin(entry config.Entry) error {
	if entry.URL == "" {
		return usagef("%s is not a remote server: a program gets its credentials from env", entry.Name)
	}
	return usagef("%s has credentials in its entry", entry.Name).withHint("mcpctl get %s", entry.Name)
}

func (a authCommands) login() *cobra.Command {
	var device, stdin bool
	cmd := &cobra.Command{
		Use:     "login SERVER",
		Short:   "Log in to a server",
		Long:    Long,
		Example: "  mcpctl auth login gh\n  mcpctl auth login gh --no-browser\n  mcpctl auth login gh --device\n  mcpctl auth login gh --token-stdin < token",
	}
	cmd.Flags().BoolVar(&device, "device", false, "log in with a code on another device")
	cmd.Flags().BoolVar(&stdin, "token-stdin", false, "store the token from standard input")
	return a.onEntry(cmd, func(ctx context.Context, entry config.Entry) error {
		if device && stdin {
			return usagef("--device and --token-stdin cannot be used together")
		}
		z, err := a.authorizer(entry)
		if err != nil {
			return err
		}
		// The token is for the next command: without a store nobody needs to log in.
		if _, err := a.tokenStore().Tokens(""); err != nil {
			return err
		}
		var t tokenstore.Token
		if stdin {
			var text string
			if text, err = ReadToken(a.ui); err == nil {
				t, err = z.Take(ctx, text)
			}
		} else {
			t, err = a.logIn(ctx, z, entry, device)
		}
		if err != nil {
			return err
		}
		if a.tokenStore().Unstored(t) {
			return fmt.Errorf("not logged in to %s: its token could not be stored", ui.CleanLine(entry.Name))
		}
		if a.ui.WantJSON() {
			return a.ui.EncodeJSON(StatusOf(entry.Name, t))
		}
		_, err = fmt.Fprintf(a.ui.Out, "logged in to %s%s\n", ui.CleanLine(entry.Name), Until(t))
		return err
	})
}

// logIn has the user log in, or the machine as the entry says.
func (a authCommands) logIn(ctx context.Context, z *auth.Authorizer, entry config.Entry, device bool) (tokenstore.Token, error) {
	challenge, _, err := a.challengeOf(ctx, entry)
	if err != nil {
		return tokenstore.Token{}, err
	}
	p := a.person(true)
	p.Device = device
	z.Attend(p)
	return z.Login(ctx, challenge)
}

// challengeOf asks a server what it wants, and reports whether it wants credentials.
func (a authCommands) challengeOf(ctx context.Context, entry config.Entry) (challenge string, wants bool, err error) {
	o := a.dialOptions(entry)
	o.Auth = nil
	c, err := dial.Dial(ctx, entry, o)
	if err == nil {
		_ = c.Close()
		return "", false, nil
	}
	if refused, ok := errors.AsType[*runtime.AuthError](err); ok {
		return refused.Challenge, true, nil
	}
	return "", false, err
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

func (a authCommands) logout() *cobra.Command {
	var principal string
	cmd := &cobra.Command{
		Use:   "logout SERVER",
		Short: "Delete a server's token, and revoke it if possible",
		Long: `Delete the token of a server. If the authorization server supports it, the token is also revoked. --principal deletes the
account that a principal of mcpctl serve has linked.`,
		Example: "  mcpctl auth logout gh\n  mcpctl auth logout gh --principal 'token|alice'",
	}
	cmd.Flags().StringVar(&principal, "principal", "", "delete the account of this principal, by the ID")
	return a.onEntry(cmd, func(ctx context.Context, entry config.Entry) error {
		had, err := a.tokenFiles().Forget(ctx, a.ui, Canonical(entry), principal)
		if err != nil {
			return err
		}
		if !had {
			_, err := io.WriteString(a.ui.Out, "there is no token for "+ui.CleanLine(entry.Name)+"\n")
			return err
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
		Long: `Print the access token of a server, refreshed if it is about to expire. With --header, print the header line that a request
needs. It never asks for a login.`,
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
			return usagef("the token of %s is bound to a key: a header is not enough", entry.Name)
		}
		if header {
			line = "Authorization: Bearer " + line
		}
		_, err = io.WriteString(a.ui.Out, line+"\n")
		return err
	})
}

// tokenFiles returns all tokens that are kept.
func (a authCommands) tokenFiles() *TokenFiles {
	return &TokenFiles{Store: a.tokenStore(), Accounts: gateway.AccountFolder(config.StateDir(a.getenv), a.settings.Tokens.Store), Kind: a.settings.Tokens.Store}
}

func (a authCommands) status() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [SERVER...]",
		Short: "List the stored tokens, and when they expire",
		Long: `List the stored tokens: their server, issuer, scopes, expiry and next refresh. mcpctl serve uses them for all who call. Accounts
that principals have linked are listed, too.
For a token that expires within a day and cannot be refreshed, it names the command that logs in again.
As JSON: {"servers":[{"name","principal","issuer","scopes","expiresAt","refreshAt","source","login"}],
"store":{"kind","at","accounts"}}, where kind is file or keyring: see auth.store of config.yaml.`,
		Example: "  mcpctl auth status\n  mcpctl auth status gh --json",
	}
	a.completeServers(cmd)
	cmd.RunE = func(_ *cobra.Command, words []string) error {
		names, wanted, err := a.namesOfTokens(words)
		if err != nil {
			return err
		}
		r, err := a.tokenFiles().Report(a.ui, names, wanted)
		if err != nil {
			return err
		}
		if a.ui.WantJSON() {
			return a.ui.EncodeJSON(r)
		}
		return r.Print(a.ui)
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
		wanted[Canonical(entry)] = true
	}
	f, err := a.loadConfig()
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range f.Entries() {
		if at := Canonical(entry); at != "" {
			names[at] = entry.Name
		}
	}
	return names, wanted, nil
}
