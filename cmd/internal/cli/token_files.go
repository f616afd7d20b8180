package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// TokenFiles are all tokens that are kept: those of this machine's user, and those of the
// principals of serve.
type TokenFiles struct {
	Store    *tokenstore.Store
	Accounts *tokenstore.Folder
	Kind     string // of the store, see settings.Tokens
}

// Files returns the files that nobody else may read. They need not exist.
func (k *TokenFiles) Files() []string {
	if k.Store.Keyring { // what else there is has no tokens in plain text
		return nil
	}
	return []string{k.Store.Path, k.Accounts.KeyFile()}
}

// Report returns the status of what is kept, and warns of accounts that cannot be read. names are those of servers by their
// addresses; wanted, where it is not empty, are the addresses to report.
func (k *TokenFiles) Report(u *ui.UI, names map[string]string, wanted map[string]bool) (*StatusReport, error) {
	all, err := k.Store.Tokens("")
	if err != nil {
		return nil, err
	}
	accounts, unread := k.Accounts.Tokens()
	if unread != nil {
		u.Say("warning: not all accounts of principals can be read: %s", strings.ReplaceAll(unread.Error(), "\n", "; "))
	}
	r := &StatusReport{Store: Place{Kind: k.Kind, At: k.Store.Place()}}
	if len(accounts) > 0 {
		r.Store.Accounts = k.Accounts.Dir
	}
	all = slices.DeleteFunc(append(all, accounts...), func(t tokenstore.Token) bool { return len(wanted) > 0 && !wanted[t.Server] })
	r.Servers = Statuses(all, names)
	return r, nil
}

// Forget deletes the tokens for a server, by its address, and has their issuers end them:
// those of a principal, by the ID, "" for those of this machine's user. It returns whose
// they were.
func (k *TokenFiles) Forget(ctx context.Context, u *ui.UI, server, principal string) (bool, error) {
	store := k.Store
	if principal != "" {
		store = k.Accounts.Of(principal)
		if _, err := os.Stat(store.Path); err != nil {
			return false, k.unknown(principal)
		}
	}
	gone, err := store.Remove(ctx, server)
	for _, t := range gone {
		if _, err := auth.Revoke(ctx, t); err != nil {
			u.Say("warning: the token is deleted here and not revoked: %v", err)
		}
	}
	return len(gone) > 0, err
}

// unknown returns the error for a principal without accounts.
func (k *TokenFiles) unknown(principal string) error {
	return &ui.Error{Kind: "usage", Err: fmt.Errorf("%s has linked no account", principal), Remedy: "mcpctl auth status has the principals"}
}
