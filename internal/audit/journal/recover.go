package journal

import (
	"context"

	"github.com/mcpctl/mcpctl/internal/audit"
)

// recoverRuns appends what the runs have left that ended without Close.
func recoverRuns(ctx context.Context, o *Options) error {
	found := false
	err := Ended(ctx, o.Dir, func(left *Left) error {
		found = true
		if err := recoverRun(ctx, o, left); err != nil {
			return err
		}
		return left.Remove()
	})
	if err == nil && found {
		_, err = o.Log.Checkpoint(ctx)
	}
	return err
}

func recoverRun(ctx context.Context, o *Options, left *Left) error {
	state, err := o.Log.State(ctx, left.Run)
	if err != nil {
		return err
	}
	b := batch{o: o, b: audit.Batch{Run: left.Run, Sync: o.Durability == Power}}
	b.last, b.open = readState(state)
	b.last = max(b.last, left.First-1)
	commit := func() error {
		if b.len() == 0 {
			return nil
		}
		_, err := o.Log.Append(ctx, b.seal())
		b.reset()
		return err
	}
	step := func() error {
		if b.len() < commitRecords {
			return nil
		}
		return commit()
	}
	for i := range left.Items {
		it := &left.Items[i]
		if it.N <= b.last {
			continue
		}
		for b.last+1 < it.N {
			b.torn(b.last + 1)
			if err := step(); err != nil {
				return err
			}
		}
		b.add(it, nil)
		if err := step(); err != nil {
			return err
		}
	}
	for b.last < left.Last {
		b.torn(b.last + 1)
		if err := step(); err != nil {
			return err
		}
	}
	for len(b.open) > 0 {
		b.lost(b.open[0])
		if err := step(); err != nil {
			return err
		}
	}
	if err := commit(); err != nil {
		return err
	}
	_, err = o.Log.Append(ctx, &audit.Batch{Run: left.Run})
	return err
}
