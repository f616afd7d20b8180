package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/wire"
)

// manyPolicies is how many policies the rows about them have, and how many views of the
// tools there are.
const manyPolicies = 50

// conditions are what a policy reads of the arguments of a call, so that each call is
// decided by them; no call matches.
const conditions = `    - {deny: "*", to: load/echo, when: {args.text: {eq: never}}}
    - {deny: "*", to: load/echo, when: {args.text: {like: "nobody*"}}}
`

// accessText is the section access with so many policies: each group may not use most
// tools of one server, and everybody may use the others. member returns who is in a group.
func accessText(n int, member func(i int) []string, more string) string {
	var groups, rules strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&groups, "    g%d: [%s]\n", i, strings.Join(member(i), ", "))
		fmt.Fprintf(&rules, "    - {deny: g%d, to: \"server%02d/extra_*\"}\n", i, i)
	}
	return "access:\n  groups:\n" + groups.String() + "  rules:\n    - {allow: \"*\", to: \"*\"}\n" + rules.String() + more
}

// nobody is in a group of those who do not call.
func nobody(i int) []string { return []string{fmt.Sprintf(`"token|nobody%d"`, i)} }

// asked returns how users are let in by serve that has policies.
func (who users) asked(policies string) users {
	return func(n int) (string, []string, []access.Token) {
		settings, credentials, tokens := who(n)
		return settings + policies, credentials, tokens
	}
}

// policyGroup compares serve that decides who may do what with serve that does not.
func (b *bench) policyGroup(ctx context.Context) error {
	key := idp.NewKey("1", "ES256")
	issuer := idp.NewServer(key)
	defer issuer.Close()
	constant := accessText(manyPolicies, nobody, "")
	asked := accessText(manyPolicies-2, nobody, conditions)
	for _, g := range []struct {
		name string
		of   func() ([]contender, error)
		work gen.Work
	}{
		{"policy", func() ([]contender, error) {
			return contenders([]string{"jwt", "policy"}, func(name string, i int) (contender, error) {
				return b.asking("policy-"+name, withJWT(issuer, key).asked([]string{"", constant}[i]), gen.Target{})
			})
		}, gen.Work{Callers: 32}},
		{"policy-stdio", func() ([]contender, error) {
			return b.overPolicies([]string{"serve", "policy"}, []string{"", constant})
		}, gen.Work{Callers: 32}},
		{"policy-single", func() ([]contender, error) {
			return b.overPolicies([]string{"serve", "policy", "arguments"}, []string{"", constant, asked})
		}, gen.Work{Callers: 1}},
	} {
		b.report.Busy[g.name] = b.report.Busy["policy"]
		if err := b.loadGroup(g.name, g.of, g.work)(ctx); err != nil {
			return err
		}
	}
	b.report.Policy = map[string]float64{}
	for _, measure := range []func(context.Context) error{b.policyLists, b.policyReload, b.policyMemory} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// each makes contenders by their names.
func contenders(names []string, of func(name string, i int) (contender, error)) (all []contender, err error) {
	for i, name := range names {
		c, err := of(name, i)
		if err != nil {
			return nil, err
		}
		c.name = name
		all = append(all, c)
	}
	return all, nil
}

// overPolicies are serve over stdio, each with another config.yaml.
func (b *bench) overPolicies(names, settings []string) ([]contender, error) {
	return contenders(names, func(_ string, i int) (contender, error) {
		dir, err := os.MkdirTemp(b.dir, "policy-")
		if err != nil {
			return contender{}, err
		}
		file := filepath.Join(dir, "servers.json")
		err = errors.Join(
			os.WriteFile(file, encoded(map[string]any{"mcpServers": b.overStdio("")}), 0o600),
			os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(settings[i]), 0o600),
		)
		return contender{open: func(ctx context.Context) (*gen.Conn, func(), error) {
			c, err := gen.Open(ctx, gen.Target{Command: []string{b.mcpctl, "--config", file, "serve"}, Env: homeIn(dir)})
			return c, nil, err
		}}, err
	})
}

// guarded is a running serve over HTTP with many tools, which asks for tokens.
type guarded struct {
	*wire.Process
	settings    string // config.yaml
	credentials []string
}

// guard starts serve with many tools and users; user i is in group i mod manyPolicies - 1
// where there are policies.
func (b *bench) guard(name string, policies bool) (*guarded, error) {
	settings, credentials, tokens := withTokens(manyUsers)
	if policies {
		settings += policiesFor(manyUsers, "")
	}
	g := &guarded{credentials: credentials}
	dir, err := os.MkdirTemp(b.dir, "guard-"+name+"-")
	if err != nil {
		return nil, err
	}
	entries := map[string]any{}
	for i := range promisedServers {
		entries[fmt.Sprintf("server%02d", i)] = command(b.load, "backend", "-tools", fmt.Sprint(promisedTools/promisedServers-3))
	}
	file := filepath.Join(dir, "servers.json")
	g.settings = filepath.Join(dir, "config.yaml")
	if err := errors.Join(os.WriteFile(file, encoded(map[string]any{"mcpServers": entries}), 0o600), os.WriteFile(g.settings, []byte(settings), 0o600), writeTokens(dir, tokens)); err != nil {
		return nil, err
	}
	g.Process, err = start(homeIn(dir), listening, b.mcpctl, "--config", file, "serve", "--http", "127.0.0.1:0")
	return g, err
}

// policiesFor has users in as many groups as there are policies.
func policiesFor(users int, more string) string {
	return accessText(manyPolicies, func(i int) (members []string) {
		for u := i; u < users; u += manyPolicies - 1 {
			members = append(members, fmt.Sprintf(`"token|user%d"`, u))
		}
		return members
	}, more)
}

// as connects as some of the users.
func (g *guarded) as(ctx context.Context, users ...int) (*gen.Conn, error) {
	t := gen.Target{URL: g.URL, PID: g.Cmd.Process.Pid, Sessions: len(users), Connections: 1}
	for _, u := range users {
		t.Bearers = append(t.Bearers, g.credentials[u])
	}
	return gen.Open(ctx, t)
}

// policyLists measures the first list of a user whose view nobody has had, and those of
// others with the same view, each beside the same without policies.
func (b *bench) policyLists(ctx context.Context) error {
	const (
		views  = 9
		others = 19 // users of each view after that
		groups = manyPolicies - 1
		usual  = 3 // tools that each server has besides
	)
	names := []string{"off", "policy"}
	guards := map[string]*guarded{}
	for _, name := range names {
		g, err := b.guard("lists-"+name, name == "policy")
		if err != nil {
			return err
		}
		defer g.Stop(endTimeout)
		guards[name] = g
	}
	took := map[string][]float64{}
	list := func(what, name string, user int) error {
		c, err := guards[name].as(ctx, user)
		if err != nil {
			return err
		}
		l, err := c.List(ctx)
		if want := promisedTools - promisedTools/promisedServers + usual; err == nil && name == "policy" && len(l.Names) != want {
			err = fmt.Errorf("%d tools are listed, want %d", len(l.Names), want)
		}
		took[name+" "+what] = append(took[name+" "+what], ms(l.Took))
		return errors.Join(err, c.Close())
	}
	both := func(what string, user int) (err error) { // in turn: what disturbs one disturbs the other
		for _, name := range names {
			err = errors.Join(err, list(what, name, user))
		}
		slices.Reverse(names)
		return err
	}
	err := both("warm", groups-1) // all servers are connected for it
	for view := range views {
		err = errors.Join(err, both("first", view))
		for i := range others {
			err = errors.Join(err, both("again", view+(1+i)*groups))
		}
	}
	if err != nil {
		return fmt.Errorf("lists: %w", err)
	}
	for _, what := range []string{"first", "again"} {
		off, on := took["off "+what], took["policy "+what]
		more := make([]float64, len(on))
		for i := range on {
			more[i] = on[i] - off[i]
		}
		slices.Sort(more)
		b.report.Policy[what+"-off"], b.report.Policy[what] = median(off), median(off)+median(more)
		b.say("policy, %s list of %d tools: %.2f ms, without policies %.2f ms; paired %+.2f ms, the middle half of %d from %+.2f to %+.2f", what, promisedTools, median(on), median(off), median(more), len(more), more[len(more)/4], more[len(more)-1-len(more)/4])
	}
	return nil
}

// policyReload measures calls while policies are replaced, and while they are not.
func (b *bench) policyReload(ctx context.Context) error {
	g, err := b.guard("reload", true)
	if err != nil {
		return err
	}
	defer g.Stop(endTimeout)
	known := make([]int, manyUsers)
	for i := range known {
		known[i] = i
	}
	c, err := g.as(ctx, known...)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if res, err := c.Run(ctx, gen.Work{Callers: manyUsers, Count: 2 * manyUsers}); err != nil || res.Err() != nil {
		return errors.Join(err, res.Err())
	}
	settings, _, _ := withTokens(0)
	var still, moved []float64
	for round := range 2 * b.rounds {
		work := gen.Work{Callers: 32, Duration: b.each / 2}
		if round%2 == 0 {
			res, err := c.Run(ctx, work)
			if err = errors.Join(err, res.Err()); err != nil {
				return err
			}
			still = append(still, res.P99)
			continue
		}
		reloading, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { // ends with the round
			for n := 0; ; n++ {
				more := fmt.Sprintf("    - {deny: nobody, to: \"server00/extra_%d\"}\n", n%7)
				text := settings + policiesFor(manyUsers, more)
				if err := os.WriteFile(g.settings+".new", []byte(text), 0o600); err != nil {
					done <- err
					return
				}
				if err := os.Rename(g.settings+".new", g.settings); err != nil {
					done <- err
					return
				}
				select {
				case <-reloading.Done():
					done <- nil
					return
				case <-time.After(400 * time.Millisecond):
				}
			}
		}()
		res, err := c.Run(ctx, work)
		stop()
		if err = errors.Join(err, <-done, res.Err()); err != nil {
			return fmt.Errorf("while policies are replaced: %w", err)
		}
		moved = append(moved, res.P99)
	}
	b.report.Policy["reload-off"], b.report.Policy["reload"] = median(still)/1000, median(moved)/1000
	b.say("policy, p99 of 32 callers while policies are replaced: %.2f ms, else %.2f ms", median(moved)/1000, median(still)/1000)
	return nil
}

// policyMemory measures what serve holds once many users with as many views as there are
// policies have called.
func (b *bench) policyMemory(ctx context.Context) error {
	all := make([]int, manyUsers)
	for i := range all {
		all[i] = i
	}
	for _, name := range []string{"off", "policy"} {
		held, err := func() (kb int64, err error) {
			g, err := b.guard("memory-"+name, name == "policy")
			if err != nil {
				return 0, err
			}
			defer g.Stop(endTimeout)
			c, err := g.as(ctx, all...)
			if err != nil {
				return 0, err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			res, err := c.Run(ctx, gen.Work{Callers: manyUsers, Count: 4 * manyUsers})
			if err = errors.Join(err, res.Err()); err != nil {
				return 0, err
			}
			time.Sleep(settle)
			return wire.ReadUsage(c.PID()).KB, nil
		}()
		if err != nil {
			return fmt.Errorf("memory, %s: %w", name, err)
		}
		b.report.Policy["memory-"+name] = mb(held)
		b.say("policy, %d users, %d tools, %s: %.1f MB", manyUsers, promisedTools, name, mb(held))
	}
	return nil
}
