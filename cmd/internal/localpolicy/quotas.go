package localpolicy

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/access/limit"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
	"github.com/mcpctl/mcpctl/runtime/store"
)

// HasQuotas reports whether some of the policies are quotas of a day.
func HasQuotas(set *policy.Set) bool {
	for _, p := range set.Policies() {
		if p.Limit != nil && p.Limit.Every == limit.Day {
			return true
		}
	}
	return false
}

// KeepQuotas has quotas of a day be those of all processes with a configuration, whose
// servers.json the user has at configPath: they are kept in the database of a state
// directory, "" for none, until stop is called. When it returns they count what others
// have. Where the database cannot be used that is logged, and they count for this process.
func KeepQuotas(g *gate.Gate, stateDir, configPath string, logger *slog.Logger) (stop func()) {
	if stateDir == "" {
		return func() {}
	}
	if abs, err := filepath.Abs(configPath); err == nil {
		configPath = abs
	}
	db := store.Open(filepath.Join(stateDir, "mcpctl.db"), store.Options{Scope: configPath, Logger: logger})
	failed := func(err error) {
		logger.Warn("quotas count only in this process, because they cannot be kept", "err", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := g.RestoreQuotas(ctx, db.Quotas()); err != nil {
		failed(err)
	}
	var work sync.WaitGroup
	work.Go(func() { g.KeepQuotas(ctx, db.Quotas(), failed) })
	return func() {
		cancel()
		work.Wait()
		if err := db.Close(); err != nil {
			logger.Debug("close the database of quotas", "err", err)
		}
	}
}
