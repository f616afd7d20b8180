package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/mcpctl/mcpctl/cmd/internal/recording"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/consent"
	"github.com/mcpctl/mcpctl/runtime/audit"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// openAudit opens the log that config.yaml asks for. A session has none: the commands that
// use it record what they do.
func openAudit(ctx context.Context, g *gateway) (err error) {
	if g.o.Session != nil {
		return nil
	}
	g.audit, err = recording.Open(ctx, recording.Options{
		Audit: g.h.Settings.Audit, Dir: config.StateDir(g.h.Getenv), Version: g.h.Info.Version, Getenv: g.h.Getenv, Log: g.h.Log,
	})
	return err
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
		r.Said.Generation, r.Count = set.Digest(), int64(len(set.Policies()))
	}
	g.audit.Note(r)
}

// record records that a lock file counts as it is now.
func (p *pinning) record(g *gateway, path string) {
	p.mu.Lock()
	seen := p.files[path].seen
	p.mu.Unlock()
	g.audit.Note(&audit.Record{Kind: audit.KindPin, Text: path + " sha256:" + hex.EncodeToString(seen[:])})
}

// recordTokens records which static tokens are new, and which are gone.
func recordTokens(g *gateway, d *entrance) {
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
		g.audit.Note(&audit.Record{Kind: audit.KindToken, What: audit.Subject{Item: t.ID}, Text: what + " " + t.Name})
	}
	had := byID(before)
	for i := range now {
		if had[now[i].ID] == nil {
			note("added", &now[i])
		}
	}
	has := byID(now)
	for i := range before {
		if has[before[i].ID] == nil {
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
type answers struct{ log *recording.Recorder }

func (a answers) record(who *access.Principal, call consent.Request, yes bool) {
	r := &audit.Record{
		Kind: audit.KindApprove, What: audit.Subject{Server: call.Server, Item: call.Item}, Said: audit.Said{Verdict: audit.VerdictDeny, By: call.IDs},
		Who: audit.Asker{ID: who.ID, Name: who.Name, Groups: who.Groups, Via: who.Provider}, Text: "page",
	}
	if yes {
		r.Said.Verdict = audit.VerdictAllow
	}
	a.log.Note(r)
}
