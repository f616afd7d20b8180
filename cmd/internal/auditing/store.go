package auditing

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// get returns the log.
func (k *recorder) get(ctx context.Context) (*logfile.Log, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.log == nil {
		l, err := logfile.Open(ctx, k.path, logfile.Options{Key: k.key})
		if err != nil {
			return nil, err
		}
		k.log = l
	}
	return k.log, nil
}

func (k *recorder) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.log == nil {
		return nil
	}
	return k.log.Close()
}

// Append implements [journal.Log].
func (k *recorder) Append(ctx context.Context, b *audit.Batch) (int64, error) {
	l, err := k.get(ctx)
	if err != nil {
		return 0, err
	}
	first, err := l.Append(ctx, b)
	if err == nil {
		k.woken.Load().Wake()
	}
	return first, err
}

// State implements [journal.Log].
func (k *recorder) State(ctx context.Context, run string) ([]byte, error) {
	l, err := k.get(ctx)
	if err != nil {
		return nil, err
	}
	return l.State(ctx, run)
}

// Checkpoint implements [journal.Log].
func (k *recorder) Checkpoint(ctx context.Context) ([]byte, error) {
	l, err := k.get(ctx)
	if err != nil {
		return nil, err
	}
	msg, err := l.Checkpoint(ctx)
	if err == nil {
		k.mu.Lock()
		k.signed = time.Now()
		k.mu.Unlock()
		k.woken.Load().Wake()
	}
	return msg, err
}

// Read implements [export.Log].
func (k *recorder) Read(ctx context.Context, from, to int64, each func(int64, []byte) error) error {
	l, err := k.get(ctx)
	if err != nil {
		return err
	}
	return l.Read(ctx, from, to, each)
}

// Checkpoints implements [export.Log].
func (k *recorder) Checkpoints(ctx context.Context, after int64, each func(int64, []byte) error) error {
	l, err := k.get(ctx)
	if err != nil {
		return err
	}
	return l.Checkpoints(ctx, after, each)
}

// Tiles implements [export.Log].
func (k *recorder) Tiles(ctx context.Context) merkle.Tiles {
	return func(level int, n int64) ([]byte, error) {
		l, err := k.get(ctx)
		if err != nil {
			return nil, err
		}
		return l.Tiles(ctx)(level, n)
	}
}
