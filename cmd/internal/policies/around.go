package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// around is what is known of a request besides the policies.
type around struct {
	// Membership says by which member of each group the principal is in it, "credential"
	// for groups that its credential has.
	Membership map[string]string `json:"membership,omitempty"`
	// Pin says whether the item is as it is locked, "" where that is not known.
	Pin string `json:"pin,omitempty"`
	// Credential is which kind of credential the server gets, "" for none.
	Credential string `json:"credential,omitempty"`
	// Left is how many requests still pass today, by the ids of quotas.
	Left map[string]int `json:"left,omitempty"`
	// Hooks are what hooks look at besides, whose answer is not known.
	Hooks []string `json:"hooks,omitempty"`
}

// examine returns what is around a request.
func examine(ctx context.Context, p *Command, l *loaded, r *request, d *decision) (out around, err error) {
	out.Membership = map[string]string{}
	for group, way := range l.set.MembershipOf(r.principal) {
		if group != access.Local || way != "" {
			out.Membership[group] = cmp.Or(way, "credential")
		}
	}
	if i := slices.IndexFunc(l.entries, func(e config.Entry) bool { return e.Name == r.server }); i >= 0 {
		out.Credential = credential(l.entries[i])
		if out.Pin, err = pin(l.entries[i], l.item(actionKinds()[r.action], r.server, r.name)); err != nil {
			return out, err
		}
	}
	out.Left, err = left(ctx, p, l, r, d)
	return out, err
}

// pin says whether an item is as it is locked of its entry.
func pin(e config.Entry, it policy.Item) (string, error) {
	mode := lockfile.Mode(e.Pin).Or()
	if mode == lockfile.Off {
		return "off", nil
	}
	if it.Definition == nil || e.File == "" {
		return "", nil
	}
	locked, err := lockfile.LoadServer(lockfile.Path(e.File), e.Name)
	if err != nil || locked == nil && mode == lockfile.Warn {
		return "", err // nothing is said of a server that was never locked
	}
	list := map[policy.Kind]lockfile.List{policy.Tool: lockfile.Tools, policy.Prompt: lockfile.Prompts, policy.Resource: lockfile.Resources}[it.Kind]
	state := "not as locked"
	if _, known := locked.Item(list, it.Name); it.Pinned {
		return "as locked", nil
	} else if !known {
		state = "not locked"
	}
	if mode == lockfile.Hold {
		state += ", held back"
	}
	return state, nil
}

// credential says which kind of credential the server of an entry gets, never its value.
func credential(e config.Entry) string {
	each := ""
	if e.PerPrincipal() {
		each = ", of each principal"
	}
	switch c, err := authconfig.Parse(e.Auth); {
	case e.Auth != nil && err == nil && len(c.Command) > 0:
		return "a token that a command prints" + each
	case e.Auth != nil && err == nil && c.Grant == "" && c.TokenFile != "":
		return "a token from a file" + each
	case e.Auth != nil && err == nil:
		return cmp.Or(c.Grant, authconfig.GrantCode) + each
	case len(e.Headers) > 0:
		return "headers of servers.json" + each
	case each != "":
		return "env of servers.json" + each
	}
	return ""
}

// left returns how many requests like one still pass today by the quotas that it counts
// for, by their ids; nil where none are kept.
func left(ctx context.Context, p *Command, l *loaded, r *request, d *decision) (map[string]int, error) {
	if !slices.ContainsFunc(d.Outcome.Over, func(of *policy.Policy) bool { return of.Limit != nil }) {
		return nil, nil
	}
	config, err := l.Gate()
	if err != nil {
		return nil, err
	}
	config.Set = l.set // whose policies those of the decision are
	g := gate.New(config)
	db := filepath.Join(p.StateDir, QuotaFile)
	if _, err := os.Stat(db); p.StateDir != "" && err == nil {
		if err := ReadQuotas(ctx, g, p.StateDir, p.Settings.ConfigPath); err != nil {
			return nil, err
		}
	} else if p.StateDir != "" && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[string]int{}
	for of, n := range g.Left(&gate.Use{Request: policy.Request{Principal: r.principal, Now: r.now}, Server: r.server, Item: r.name}, d.Outcome.Over) {
		out[of.ID] = n
	}
	return out, nil
}

// memberships says which groups a principal is in, and why.
func (a *around) memberships(groups []string) (all []string) {
	for _, g := range groups {
		if way := a.Membership[g]; way != "" {
			g += " (" + way + ")"
		}
		all = append(all, g)
	}
	return all
}

// limits says what is left of the quotas.
func (a *around) limits(d *decision) (all []string) {
	for _, of := range d.Outcome.Over {
		if n, ok := a.Left[of.ID]; ok {
			all = append(all, fmt.Sprintf("%d of %d today by %s", n, of.Limit.N, of.ID))
		}
	}
	return all
}

// one returns a list of a text, nil for "".
func one(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []string{text}
}
