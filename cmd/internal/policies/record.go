package policies

import (
	"context"
	"os"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// auditLog is the audit log of a command, which is open while a connection is. The zero
// value is ready.
type auditLog struct {
	mu   sync.Mutex // guards what follows
	log  *auditing.Recorder
	uses int

	redactors auditing.Redactors // of the connections
}

// audit returns what config.yaml says of the log, nil for none.
func (p *Policies) audit() *settings.Audit {
	if p == nil {
		return nil
	}
	return p.Settings.Audit
}

// record opens the log, which connections side by side share. Whoever has it calls done.
func (p *Policies) record(ctx context.Context) (log *auditing.Recorder, done func(), err error) {
	r := &p.recorded
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.uses == 0 {
		r.log, err = auditing.Open(ctx, auditing.Options{Audit: p.audit(), Dir: p.StateDir, Command: true, Clean: r.redactors.Clean, Version: p.Version, Getenv: os.Getenv, Log: p.Log})
		if err != nil {
			return nil, nil, err
		}
	}
	r.uses++
	return r.log, sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.uses--; r.uses == 0 {
			r.log.Close(ctx)
			r.log = nil
		}
	}), nil
}

// recordUnread records that a server is run whose messages nobody reads: of what is done
// with it, there is no other record.
func (p *Policies) recordUnread(entry config.Entry, command string) error {
	if p.audit() == nil {
		return nil
	}
	recorder, done, err := p.record(context.Background())
	if err != nil {
		return err
	}
	defer done()
	recorder.Record(&audit.Record{
		Kind: audit.KindOperate, Principal: audit.Principal{ID: access.Local}, Target: audit.Target{Server: entry.Name},
		Text: command + ": what is said to the server is not recorded",
	})
	return nil
}
