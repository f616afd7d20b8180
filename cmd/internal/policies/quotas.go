package policies

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/store"
)

// HasQuotas reports whether some of the policies are quotas of a day.
func HasQuotas(set *policy.Set) bool {
	for _, p := range set.Policies() {
		if p.Limit != nil && p.Limit.Every == gate.Day {
			return true
		}
	}
	return false
}

// QuotaFile is the database in the state directory that has the counts of quotas.
const QuotaFile = "mcpctl.db"

// ReadQuotas has a gate know what quotas have counted today, of the database of a state
// directory, as [KeepQuotas] does.
func ReadQuotas(ctx context.Context, g *gate.Gate, stateDir, configPath string) error {
	db := quotaDB(stateDir, configPath, nil)
	return errors.Join(g.RestoreQuotas(ctx, db.Quotas()), db.Close())
}

func quotaDB(stateDir, configPath string, logger *slog.Logger) *store.DB {
	if abs, err := filepath.Abs(configPath); err == nil {
		configPath = abs
	}
	return store.Open(filepath.Join(stateDir, QuotaFile), store.Options{Scope: configPath, Logger: logger})
}

// KeepQuotas shares the quotas of a day between all processes with the servers.json at
// configPath, through the database of a state directory, "" for none, until stop is called.
// When it returns, what other processes have used counts. If the database cannot be used,
// that is logged, and the quotas are those of this process.
func KeepQuotas(g *gate.Gate, stateDir, configPath string, logger *slog.Logger) (stop func()) {
	if stateDir == "" {
		return func() {}
	}
	db := quotaDB(stateDir, configPath, logger)
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
