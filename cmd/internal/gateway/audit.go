package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// openAudit opens the log that config.yaml asks for.
func openAudit(ctx context.Context, g *gateway) (err error) {
	a := g.h.Settings.Audit
	if a != nil && a.Bodies != nil && a.Bodies.Redact {
		g.redactors = &auditing.Redactors{}
	}
	g.audit, err = auditing.Open(ctx, auditing.Options{
		Audit: a, Dir: config.StateDir(g.h.Getenv), Clean: g.clean, Version: g.h.Info.Version, Getenv: g.h.Getenv, Log: g.h.Log,
	})
	return err
}

// clean takes the secrets of a server out of a body that is kept of a call of a principal. It
// reports false where they cannot be known.
func (g *gateway) clean(server, principal string, body []byte) (clean []byte, ok bool) {
	entries := g.entries.Load()
	entry, served := (*entries)[server]
	if !served && server == "" { // of what no server has
		return body, true
	}
	id := ""
	if principal != access.Local && entry.PerPrincipal() {
		id = principal
	}
	if served && !g.redactors.Has(server, id, entries) { // no connection has been opened yet
		key := proxy.Key{Server: server, Principal: g.visitor(id)}
		o, err := g.way(entry, &key)
		if err != nil || key.Principal.Key() != id {
			return nil, false
		}
		o.Redactor = g.redactors.Of(server, o.Principal.Key())
		if dial.Learn(entry, o) != nil {
			return nil, false
		}
		g.redactors.Learned(server, o.Principal.Key(), entries)
	}
	return g.redactors.Clean(server, principal, body)
}

// visitor returns a principal who has come, nil for one who is not known.
func (g *gateway) visitor(id string) *access.Principal {
	if d := g.authenticator.Load(); d != nil {
		return d.book.Who(id)
	}
	if owner := socketOwner(); owner.ID == id {
		return owner
	}
	return nil
}

// record records which policies count from now on, and what config.yaml is.
func (p *policing) record(g *gateway) {
	if g.audit == nil {
		return
	}
	r := &audit.Record{Kind: audit.KindPolicy}
	p.mu.Lock()
	text := p.text
	p.mu.Unlock()
	if text != nil {
		sum := sha256.Sum256(text)
		r.Text = settings.FileName + " sha256:" + hex.EncodeToString(sum[:])
	}
	if set := p.gate.Set(); set != nil {
		r.Decision.Generation, r.Count = set.Digest(), int64(len(set.Policies()))
	}
	g.audit.Record(r)
}

// record records that a lock file counts as it is now.
func (p *pinning) record(g *gateway, path string) {
	p.mu.Lock()
	seen := p.files[path].seen
	p.mu.Unlock()
	g.audit.Record(&audit.Record{Kind: audit.KindPin, Text: path + " sha256:" + hex.EncodeToString(seen[:])})
}

// recordTokens records which static tokens are new, and which are gone.
func (g *gateway) recordTokens(d *authenticator) {
	if g.audit == nil {
		return
	}
	before := d.known
	now, err := d.file.List()
	if err != nil {
		return // it has changed again: changed comes back
	}
	d.known = now
	note := func(what string, t *access.Token) {
		g.audit.Record(&audit.Record{Kind: audit.KindToken, Target: audit.Target{Item: t.ID}, Text: what + " " + t.Name})
	}
	had := byID(before)
	for i := range now {
		if had[now[i].ID] == nil {
			note("added", &now[i])
		}
	}
	tokens := byID(now)
	for i := range before {
		if tokens[before[i].ID] == nil {
			note("revoked", &before[i])
		}
	}
}

func byID(all []access.Token) map[string]*access.Token {
	m := make(map[string]*access.Token, len(all))
	for i := range all {
		m[all[i].ID] = &all[i]
	}
	return m
}

// answers records what people answer on a page.
type answers struct{ log *auditing.Recorder }

func (a answers) record(principal *access.Principal, call gate.ApprovalRequest, yes bool) {
	r := &audit.Record{
		Kind: audit.KindApprove, Target: audit.Target{Server: call.Server, Item: call.Item}, Decision: audit.Decision{Verdict: audit.VerdictDeny, By: call.IDs},
		Principal: audit.Principal{ID: principal.ID, Name: principal.Name, Groups: principal.Groups, Via: principal.Provider}, Text: "page",
	}
	if yes {
		r.Decision.Verdict = audit.VerdictAllow
	}
	a.log.Record(r)
}
