package gate

import (
	"context"
	"time"
)

// SyncInterval is how often [Limiter.Sync] is to be called: so much of a quota a crash
// loses, and so long several processes do not see of each other.
const SyncInterval = 10 * time.Second

// LimitStore keeps what quotas have counted, for all processes that share it. Days are
// numbered from 1970 on, in UTC.
type LimitStore interface {
	// Counts returns what a day has had, by key.
	Counts(ctx context.Context, day int64) (map[string]int64, error)
	// Add adds to the counts of a day, and returns the new ones of the same keys. It may
	// forget earlier days. With an error nothing was added.
	Add(ctx context.Context, day int64, counts map[string]int64) (map[string]int64, error)
}

// Restore takes what the quotas of today have had before. It is called once, before the
// first request.
func (l *Limiter) Restore(ctx context.Context, now time.Time, k LimitStore) error {
	counts, err := k.Counts(ctx, dayOf(now))
	if err != nil {
		return err
	}
	for key, used := range counts {
		s := &l.shards[l.shardOf(key)]
		s.mu.Lock()
		c := s.count(now, &Want{Key: key, N: 1, Every: Day, Burst: 1})
		c.used, c.unknown = used, false
		s.mu.Unlock()
	}
	return nil
}

// Sync adds what quotas have counted since the last time to a Keeper, and takes what other
// processes have.
func (l *Limiter) Sync(ctx context.Context, now time.Time, k LimitStore) error {
	today := dayOf(now)
	told := map[string]int64{}
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		for key, c := range s.keys {
			if c.day == today && (c.used > 0 || c.unknown) {
				told[key] += c.untold
				c.untold = 0
			}
		}
		for at, n := range s.left {
			if at.day == today {
				told[at.key] += n
			}
		}
		s.left = nil
		s.mu.Unlock()
	}
	if len(told) == 0 {
		return nil
	}
	sums, err := k.Add(ctx, today, told)
	for key, n := range told {
		s := &l.shards[l.shardOf(key)]
		s.mu.Lock()
		c := s.keys[key]
		switch here := c != nil && c.day == today; {
		case err != nil && here:
			c.untold += n
		case err != nil:
			s.leave(dayKey{key, today}, n)
		case here:
			c.used, c.unknown = sums[key]+c.untold, false
		}
		s.mu.Unlock()
	}
	return err
}

// leave notes requests that no Keeper has yet, of a key that was forgotten. The caller
// holds the lock.
func (s *shard) leave(at dayKey, n int64) {
	if n == 0 || len(s.left) >= maxPerShard {
		return
	}
	if s.left == nil {
		s.left = map[dayKey]int64{}
	}
	s.left[at] += n
}
