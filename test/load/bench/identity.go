package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/wire"
)

// manyUsers is how many users the rows of memory are about, each with a session.
const manyUsers = 1000

// resource is what access tokens are for.
const resource = "https://mcp.example.com/mcp"

// users returns how users are let in by serve: what config.yaml says of it, "" for
// everybody, and the credential of each.
type users func(n int) (settings string, credentials []string, tokens []access.Token)

func everybody(int) (string, []string, []access.Token) { return "", nil, nil }

func withTokens(n int) (string, []string, []access.Token) {
	credentials, tokens := make([]string, n), make([]access.Token, n)
	for i := range n {
		tokens[i], credentials[i] = access.NewToken(fmt.Sprintf("user%d", i), nil, time.Now(), time.Time{})
	}
	return "serve: {auth: [token: {}]}\n", credentials, tokens
}

// withJWT lets in the users of an identity provider.
func withJWT(from *idp.Server, key *idp.Key) users {
	return func(n int) (string, []string, []access.Token) {
		credentials, now := make([]string, n), time.Now()
		for i := range n {
			credentials[i] = key.Sign(idp.Claims{
				"iss": from.URL, "aud": resource, "sub": fmt.Sprintf("user%d", i), "client_id": "load",
				"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": fmt.Sprint(i),
			}, nil)
		}
		return fmt.Sprintf("serve: {url: %q, auth: [jwt: {issuer: %q}]}\n", resource, from.URL), credentials, nil
	}
}

// asking returns what starts serve with users, one for each session of the target, and
// connects to it.
func (b *bench) asking(name string, who users, t gen.Target) (contender, error) {
	settings, credentials, tokens := who(max(t.Sessions, 1))
	dir := filepath.Join(b.dir, "identity-"+name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return contender{}, err
	}
	file := filepath.Join(dir, "servers.json")
	for path, text := range map[string][]byte{file: encoded(map[string]any{"mcpServers": b.overStdio("")}), filepath.Join(dir, "config.yaml"): []byte(settings)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return contender{}, err
		}
	}
	if err := writeTokens(dir, tokens); err != nil {
		return contender{}, err
	}
	t.Bearers = credentials
	return contender{name, func(ctx context.Context) (*gen.Conn, func(), error) {
		p, err := start(homeIn(dir), listening, b.mcpctl, "--config", file, "serve", "--http", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		to := t
		to.URL, to.PID = p.URL, p.Cmd.Process.Pid
		c, err := gen.Open(ctx, to)
		return c, stopAll(p), err
	}}, nil
}

// writeTokens has tokens be accepted by a serve whose home is a folder; nil are none.
func writeTokens(dir string, tokens []access.Token) error {
	if tokens == nil {
		return nil
	}
	state := authn.NewTokenFile(filepath.Join(dir, "state", authn.TokenFileName))
	return state.Change(context.Background(), func([]access.Token) ([]access.Token, error) { return tokens, nil })
}

// identityGroup compares serve that asks who comes with serve that does not: what a call
// costs, and the memory of many users.
func (b *bench) identityGroup(ctx context.Context) error {
	key := idp.NewKey("1", "ES256")
	issuer := idp.NewServer(key)
	defer issuer.Close()
	kinds := []struct {
		name string
		who  users
	}{{"serve", everybody}, {"token", withTokens}, {"jwt", withJWT(issuer, key)}}
	load := b.loadGroup("identity", func() (all []contender, err error) {
		for _, k := range kinds {
			c, err := b.asking(k.name, k.who, gen.Target{})
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
		return all, nil
	}, gen.Work{Callers: 32})
	if err := load(ctx); err != nil {
		return err
	}
	memory := map[string]int64{}
	for _, k := range kinds {
		c, err := b.asking("many-"+k.name, k.who, gen.Target{Sessions: manyUsers, Connections: 1})
		if err != nil {
			return err
		}
		kb, err := c.held(ctx)
		if err != nil {
			return err
		}
		memory[k.name] = kb
		b.say("identity, %d users with a session each, %s: %.1f MB", manyUsers, k.name, mb(kb))
	}
	b.report.Users = memory
	return nil
}

// encoded returns a value as JSON, which it has.
func encoded(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}

// held returns the memory, in kB, of a contender once each of its sessions has called.
func (c contender) held(ctx context.Context) (kb int64, err error) {
	conn, stop, err := c.open(ctx)
	if stop != nil {
		defer stop()
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.name, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	res, err := conn.Run(ctx, gen.Work{Callers: manyUsers, Count: 4 * manyUsers})
	if err = errors.Join(err, res.Err()); err != nil {
		return 0, fmt.Errorf("%s: %w", c.name, err)
	}
	time.Sleep(settle)
	return wire.ReadUsage(conn.PID()).KB, nil
}
