package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
)

// maxTokens bounds how many there are.
const maxTokens = 10_000

// tokenCommand is one run of a command.
type tokenCommand struct {
	UI *ui.UI
	// StateDir is where tokens are kept.
	StateDir string
	// Listed says that the settings list the tokens which serve accepts: those that are
	// added here are none of them.
	Listed bool
	// Unused says that serve asks nobody for a token.
	Unused bool
	now    func() time.Time
}

// newToken returns a run that keeps tokens in a directory, for serves with some settings.
func newToken(u *ui.UI, dir string, s settings.Serve) *tokenCommand {
	accepted := s.Access.Providers.Token
	return &tokenCommand{UI: u, StateDir: dir, Listed: accepted != nil && accepted.List != nil, Unused: accepted == nil}
}

func (c *tokenCommand) time() time.Time {
	if c.now != nil {
		return c.now()
	}
	return time.Now()
}

func (c *tokenCommand) file() (*authn.TokenFile, error) {
	if c.StateDir == "" {
		return nil, (&ui.Error{Kind: "config", Err: errors.New("there is no directory to keep tokens in")}).WithHint("set HOME or MCPCTL_HOME")
	}
	return authn.NewTokenFile(filepath.Join(c.StateDir, authn.TokenFileName)), nil
}

// change changes the tokens, as one step.
func (c *tokenCommand) change(ctx context.Context, change func([]access.Token) ([]access.Token, error)) error {
	f, err := c.file()
	if err != nil {
		return err
	}
	if err := f.Change(ctx, change); err != nil {
		return tokenFileError(err)
	}
	return nil
}

// tokenFileError returns an error of the file with its kind.
func tokenFileError(err error) error {
	if own, ok := errors.AsType[*ui.Error](err); ok {
		return own
	}
	return &ui.Error{Kind: "config", Err: err}
}

func checkToken(what, text string, valid func(string) bool) error {
	if !valid(text) {
		return ui.Usage("%s %q: want letters, digits and . _ -, at most 64, a letter or digit first", what, text)
	}
	return nil
}

// listedToken is a token in JSON.
type listedToken struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Groups  []string `json:"groups,omitempty"`
	Created string   `json:"created"`
	Expires string   `json:"expires,omitempty"`
	Token   string   `json:"token,omitempty"`
}

func shown(t access.Token, text string) listedToken {
	out := listedToken{ID: t.ID, Name: t.Name, Groups: t.Groups, Created: t.Created.Format(time.RFC3339), Token: text}
	if !t.Expires.IsZero() {
		out.Expires = t.Expires.Format(time.RFC3339)
	}
	return out
}

// print prints a new token, which is shown this once.
func (c *tokenCommand) print(t access.Token, text string) error {
	if c.Listed {
		c.UI.Say("warning: config.yaml lists the tokens that serve accepts: add the hash of this one there, sha256:%s", t.SHA256)
	}
	if c.UI.WantJSON() {
		return c.UI.EncodeJSON(shown(t, text))
	}
	fmt.Fprintln(c.UI.Out, text)
	until := "it does not expire"
	if !t.Expires.IsZero() {
		until = "it expires on " + t.Expires.Format("2006-01-02 15:04 UTC")
	}
	c.UI.Info("token %s of %s is shown this once; %s", t.ID, t.Name, until)
	return nil
}

// Add adds a token of a name. expires is a duration such as 90d, or a date; "" is
// never.
func (c *tokenCommand) Add(ctx context.Context, name string, groups []string, expires string) error {
	t, text, err := c.create(ctx, name, groups, expires)
	if err != nil {
		return err
	}
	err = c.print(t, text)
	if err == nil && c.Unused {
		c.UI.Info("note: serve asks nobody for a token yet; in config.yaml: serve: {auth: [{token: {}}]}")
	}
	return err
}

// create adds a token, see Add, and returns it with its text.
func (c *tokenCommand) create(ctx context.Context, name string, groups []string, expires string) (t access.Token, text string, err error) {
	if err := checkToken("name", name, access.ValidTokenName); err != nil {
		return t, "", err
	}
	for _, g := range groups {
		if err := checkToken("group", g, access.ValidGroup); err != nil {
			return t, "", err
		}
	}
	until, err := c.until(expires)
	if err != nil {
		return t, "", err
	}
	t, text = access.NewToken(name, groups, c.time(), until)
	err = c.change(ctx, func(all []access.Token) ([]access.Token, error) {
		if slices.ContainsFunc(all, func(o access.Token) bool { return o.Name == name }) {
			return nil, (&ui.Error{Kind: "config", Err: fmt.Errorf("there is a token of %s", name)}).WithHint("mcpctl access token rotate %s", name)
		}
		if len(all) >= maxTokens {
			return nil, &ui.Error{Kind: "config", Err: fmt.Errorf("there are %d tokens, which is the most there can be", len(all))}
		}
		return append(all, t), nil
	})
	return t, text, err
}

// until returns when what is created now expires.
func (c *tokenCommand) until(expires string) (time.Time, error) {
	now := c.time()
	wrong := ui.Usage("--expires %s: want a duration such as 90d or 12h, or a date that is to come, such as 2030-01-31", strconv.Quote(expires))
	if expires == "" || expires == "never" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, expires); err == nil {
		if !day.After(now) {
			return time.Time{}, wrong
		}
		return day, nil
	}
	d, err := settings.ParseDays(expires)
	if err != nil || d <= 0 {
		return time.Time{}, wrong
	}
	return now.Add(d), nil
}

// List prints the tokens, without what would let anybody in.
func (c *tokenCommand) List() error {
	f, err := c.file()
	if err != nil {
		return err
	}
	all, err := f.List()
	if err != nil {
		return tokenFileError(err)
	}
	if c.UI.WantJSON() {
		out := make([]listedToken, len(all))
		for i, t := range all {
			out[i] = shown(t, "")
		}
		return c.UI.EncodeJSON(map[string]any{"tokens": out})
	}
	if len(all) == 0 {
		c.UI.Info("there are no tokens (mcpctl access token add NAME)")
		return nil
	}
	now, rows := c.time(), make([][]string, len(all))
	for i, t := range all {
		expires := "never"
		switch {
		case t.Expires.IsZero():
		case !now.Before(t.Expires):
			expires = "expired"
		default:
			expires = t.Expires.Format("2006-01-02 15:04")
		}
		rows[i] = []string{t.Name, t.ID, strings.Join(t.Groups, ","), t.Created.Format(time.DateOnly), expires}
	}
	return c.UI.NameTable([]string{"NAME", "ID", "GROUPS", "CREATED", "EXPIRES"}, rows)
}

// Rotate replaces a token by a new one of the same name and groups, which lasts as long
// as the old one was to last from its creation. The old one counts for grace longer.
func (c *tokenCommand) Rotate(ctx context.Context, word, grace string) error {
	keep, err := settings.ParseDays(grace)
	if err != nil || keep < 0 && grace != "0" && grace != "0s" {
		return ui.Usage("--grace %s: want a duration such as 1h", strconv.Quote(grace))
	}
	var t access.Token
	var text string
	err = c.change(ctx, func(all []access.Token) ([]access.Token, error) {
		at, err := c.find(all, word)
		if err != nil {
			return nil, err
		}
		if len(at) > 1 {
			return nil, ui.Usage("%s has %d tokens: name one by its id", word, len(at)).WithHint("mcpctl access token list")
		}
		old, now, until := &all[at[0]], c.time(), time.Time{}
		if !old.Expires.IsZero() {
			until = now.Add(old.Expires.Sub(old.Created))
		}
		t, text = access.NewToken(old.Name, old.Groups, now, until)
		if keep <= 0 {
			return append(slices.Delete(all, at[0], at[0]+1), t), nil
		}
		if end := now.Add(keep).UTC().Truncate(time.Second); old.Expires.IsZero() || end.Before(old.Expires) {
			old.Expires = end
		}
		return append(all, t), nil
	})
	if err != nil {
		return err
	}
	return c.print(t, text)
}

// Revoke removes tokens by id, or all of a name.
func (c *tokenCommand) Revoke(ctx context.Context, words []string) error {
	var gone []access.Token
	err := c.change(ctx, func(all []access.Token) ([]access.Token, error) {
		gone = nil
		for _, word := range words {
			at, err := c.find(all, word)
			if err != nil {
				return nil, err
			}
			for _, i := range slices.Backward(at) {
				gone = append(gone, all[i])
				all = slices.Delete(all, i, i+1)
			}
		}
		return all, nil
	})
	if err != nil {
		return err
	}
	if c.UI.WantJSON() {
		out := make([]listedToken, len(gone))
		for i, t := range gone {
			out[i] = shown(t, "")
		}
		return c.UI.EncodeJSON(map[string]any{"revoked": out})
	}
	for _, t := range gone {
		c.UI.Info("revoked token %s of %s", t.ID, t.Name)
	}
	return nil
}

func (c *tokenCommand) find(all []access.Token, word string) ([]int, error) {
	at, err := authn.FindToken(all, word)
	if err != nil {
		return nil, ui.Usage("there is no token with the id or name %q", word).WithHint("mcpctl access token list")
	}
	return at, nil
}
