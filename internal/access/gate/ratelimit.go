package gate

import (
	"container/list"
	"hash/maphash"
	"math/bits"
	"sync"
	"time"
)

const (
	// Day is the time of a quota. Quotas begin again at midnight, UTC.
	Day = 24 * time.Hour

	shards = 64
	// maxKeys bounds what is counted. Beyond it the idlest key is forgotten. A key that
	// is then new, or back, starts without what it could have had since. maxOwn is the same
	// for the keys of one owner, which have no part in what happens to those of others.
	maxKeys        = 64 << 10
	maxOwnLimits   = 4 << 10
	maxPerShard    = maxKeys / shards
	maxOwnPerShard = maxOwnLimits / shards
)

// Want is one limit that a request counts for.
type Want struct {
	// Key is what is counted apart. It is never for a rate here and for a quota there.
	Key string
	// Owner is who can have ever more keys, as of conversations; "" where nobody can.
	Owner string
	// N requests pass in each Every, which is a quota if it is a [Day]; both are above
	// zero.
	N     int
	Every time.Duration
	// Burst is how many may come at once, at least 1. Quotas have none.
	Burst int
}

// Limiter counts. All methods may be called concurrently.
type Limiter struct {
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu     sync.Mutex // guards what follows
	keys   map[string]*count
	recent list.List // of *count, the one used last first
	// forgotten is the latest use of a key that was forgotten, zero for none: a key
	// that is not here may have taken all until then.
	forgotten time.Time
	owners    map[string]*limitOwner
	// left are requests of quotas that were forgotten before a Keeper had them.
	left map[dayKey]int64 // bounded by maxPerShard: beyond it they are not counted
}

// limitOwner is who can have ever more keys. One whose keys were forgotten stays.
type limitOwner struct {
	name      string
	recent    list.List // of *count, the one used last first
	forgotten time.Time // as of a shard
}

type dayKey struct {
	key string
	day int64
}

// count is what one key has had.
type count struct {
	key    string
	owner  *limitOwner   // nil for none
	of, in *list.Element // of the shard, and of the owner
	last   time.Time     // of its use
	// full is when a rate lets a whole burst pass again.
	full time.Time
	// used is what a quota has had on a day, in all processes that share it; of them
	// untold are not with the Keeper. unknown says that others of it may be there.
	day, used, untold int64
	unknown           bool
}

// NewLimiter returns a limiter that has counted nothing.
func NewLimiter() *Limiter {
	l := &Limiter{seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].keys, l.shards[i].owners = map[string]*count{}, map[string]*limitOwner{}
	}
	return l
}

// Take counts a request for all its limits, or for none where one is used up. It returns
// the index of that one, -1 where the request passes, and when it may come again.
func (l *Limiter) Take(now time.Time, wants []Want) (refused int, again time.Duration) {
	var mask uint64
	for i := range wants {
		mask |= 1 << l.shardOf(wants[i].Key)
	}
	for m := mask; m != 0; m &= m - 1 {
		l.shards[bits.TrailingZeros64(m)].mu.Lock()
	}
	defer func() {
		for m := mask; m != 0; m &= m - 1 {
			l.shards[bits.TrailingZeros64(m)].mu.Unlock()
		}
	}()
	for i := range wants {
		w := &wants[i]
		if after := l.shards[l.shardOf(w.Key)].count(now, w).wait(now, w); after > 0 {
			return i, after
		}
	}
	for i := range wants {
		w := &wants[i]
		l.shards[l.shardOf(w.Key)].count(now, w).take(now, w)
	}
	return -1, 0
}

// Left returns how many requests of a quota still pass today.
func (l *Limiter) Left(now time.Time, w *Want) int {
	s := &l.shards[l.shardOf(w.Key)]
	s.mu.Lock()
	defer s.mu.Unlock()
	used := int64(0)
	if c := s.keys[w.Key]; c != nil && c.day == dayOf(now) {
		used = c.used
	}
	return int(max(int64(w.N)-used, 0))
}

func (l *Limiter) shardOf(key string) uint64 { return maphash.String(l.seed, key) % shards }

// count returns what a key has had. The caller holds the lock.
func (s *shard) count(now time.Time, w *Want) *count {
	c := s.keys[w.Key]
	if c == nil {
		c = &count{key: w.Key, owner: s.ownerOf(w)}
		forgotten := s.evict(c.owner)
		if !forgotten.IsZero() {
			c.full = forgotten.Add(w.interval() * time.Duration(w.Burst))
			c.day, c.unknown = dayOf(now), dayOf(forgotten) == dayOf(now)
		}
		s.keys[w.Key], c.of = c, s.recent.PushFront(c)
		if c.owner != nil {
			c.in = c.owner.recent.PushFront(c)
		}
	}
	c.last = now
	s.recent.MoveToFront(c.of)
	if c.owner != nil {
		c.owner.recent.MoveToFront(c.in)
	}
	if day := dayOf(now); c.day < day { // not back, where the clock was set
		c.day, c.used, c.untold, c.unknown = day, 0, 0, false
	}
	return c
}

func (s *shard) ownerOf(w *Want) *limitOwner {
	if w.Owner == "" {
		return nil
	}
	o := s.owners[w.Owner]
	if o == nil {
		o = &limitOwner{name: w.Owner}
		s.owners[w.Owner] = o
	}
	return o
}

// evict forgets the idlest key where there is no room for one more of an owner, nil for
// none: the owner's own, where there are too many of those. It returns until when a key that
// is not here may have taken all, zero for never.
func (s *shard) evict(of *limitOwner) (forgotten time.Time) {
	if of != nil {
		if of.recent.Len() >= maxOwnPerShard {
			if at := s.forget(of.recent.Back()); at.After(of.forgotten) {
				of.forgotten = at
			}
		}
		forgotten = of.forgotten
	}
	if len(s.keys) >= maxPerShard {
		if at := s.forget(s.recent.Back()); at.After(s.forgotten) {
			s.forgotten = at
		}
	}
	if of != nil {
		s.owners[of.name] = of // its last key may have had to go
	}
	if s.forgotten.After(forgotten) {
		forgotten = s.forgotten
	}
	return forgotten
}

// forget forgets a key, and returns when it was last used.
func (s *shard) forget(e *list.Element) time.Time {
	c, _ := e.Value.(*count) // there is nothing else
	s.leave(dayKey{c.key, c.day}, c.untold)
	delete(s.keys, c.key)
	s.recent.Remove(c.of)
	if o := c.owner; o != nil {
		if o.recent.Remove(c.in); o.recent.Len() == 0 && o.forgotten.IsZero() {
			delete(s.owners, o.name)
		}
	}
	return c.last
}

// interval is the time between two requests of a rate that is used up.
func (w *Want) interval() time.Duration { return max(w.Every/time.Duration(w.N), 1) }

// wait returns after how long a request would pass, zero for now.
func (c *count) wait(now time.Time, w *Want) time.Duration {
	if w.Every < Day {
		return c.after(now, w).Sub(now) - w.interval()*time.Duration(w.Burst)
	}
	switch {
	case c.unknown:
		return SyncInterval
	case c.used >= int64(w.N):
		return time.Unix((c.day+1)*int64(Day/time.Second), 0).Sub(now)
	}
	return 0
}

func (c *count) take(now time.Time, w *Want) {
	if w.Every < Day {
		c.full = c.after(now, w)
		return
	}
	c.used++
	c.untold++
}

// after returns when a rate is full again that lets one more request pass now.
func (c *count) after(now time.Time, w *Want) time.Time {
	full := c.full
	if full.Before(now) {
		full = now
	}
	return full.Add(w.interval())
}

// dayOf returns the number of a day, in UTC.
func dayOf(t time.Time) int64 { return t.Unix() / int64(Day/time.Second) }
