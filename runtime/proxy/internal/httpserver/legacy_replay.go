package httpserver

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

const (
	// maxStored and maxStoredBytes bound the messages of one session that are kept
	// so that its client can resume a broken stream. Beyond them the oldest
	// that have been taken are forgotten, then the oldest streams that have
	// ended without a connection; the newest always stays. A stream itself
	// counts as a message.
	maxStored      = 1024
	maxStoredBytes = 16 << 20
	// keepTime is how long a stream that has ended, or one for what belongs to
	// no request, is kept without a connection.
	keepTime = 5 * time.Minute
)

// The first byte of a kept stream's name: what opened it.
const (
	ofPost = 'p'
	ofGet  = 'g'
)

// replayBuffer keeps the streams of one session, so that their client can resume
// one: GET with Last-Event-ID (2025-11-25, Streamable HTTP, Resumability and
// Redelivery). The zero value is ready; a nil one keeps nothing.
type replayBuffer struct {
	events, bytes atomic.Int64
	all           *limits.Counter // of all sessions; nil: nobody counts

	mu      sync.Mutex // guards what follows; taken before a stream's
	next    uint64
	order   []*stream // oldest first
	timer   *time.Timer
	stopped bool
}

// keep names a stream, keeps it from now on, and attaches a connection.
func (k *replayBuffer) keep(s *stream, kind byte) (holder chan struct{}) {
	defer k.trim(s)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next++
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = string(kind) + strconv.FormatUint(k.next, 10)
	if !k.stopped {
		s.let() // the buffer counts it from now on
		s.replay = k
		k.order = append(k.order, s)
		k.count(1, 0)
		for _, q := range s.queue.events {
			k.count(1, len(q.data))
		}
	}
	return s.attachLocked(0)
}

// eventID returns the id of a message, which names its stream, too.
func eventID(stream string, n uint64) string { return stream + "-" + strconv.FormatUint(n, 10) }

// find returns the stream of an event id and the number of the message. get reports
// whether the stream, even one that is gone, is that of a GET.
func (k *replayBuffer) find(id string) (s *stream, n uint64, get bool) {
	name, number, _ := strings.Cut(id, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || name == "" {
		return nil, 0, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.order {
		if s.name == name {
			return s, n, name[0] == ofGet
		}
	}
	return nil, 0, name[0] == ofGet
}

func (k *replayBuffer) count(events, bytes int) {
	if k != nil {
		k.events.Add(int64(events))
		k.bytes.Add(int64(bytes))
		k.all.Add(bytes)
	}
}

func (k *replayBuffer) full() bool {
	bytes := k.bytes.Load()
	return k.events.Load() > maxStored || bytes > maxStoredBytes || bytes > limits.FairShare && k.all.Full()
}

// trim forgets messages until the bounds hold; newest has just got one.
func (k *replayBuffer) trim(newest *stream) {
	if k == nil || !k.full() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.order {
		if s != newest {
			s.forget()
		}
		if !k.full() {
			return
		}
	}
	newest.forget()
	k.discard(func(s *stream) bool {
		idle, ended, _ := s.idle()
		return k.full() && s != newest && idle && (ended || s.name[0] == ofGet)
	})
}

// discard drops the streams that match. The caller holds the lock.
func (k *replayBuffer) discard(match func(*stream) bool) {
	k.order = slices.DeleteFunc(k.order, func(s *stream) bool {
		drop := match(s)
		if drop {
			s.drop()
		}
		return drop
	})
}

// watch has streams without a connection dropped in time.
func (k *replayBuffer) watch() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer == nil && !k.stopped {
		k.timer = time.AfterFunc(keepTime, k.sweep)
	}
}

func (k *replayBuffer) sweep() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = nil
	if k.stopped {
		return
	}
	now, next := time.Now(), time.Duration(0)
	k.discard(func(s *stream) bool {
		idle, ended, since := s.idle()
		if !idle || !ended && s.name[0] == ofPost {
			return false // a connection has it, or its request goes on
		}
		left := keepTime - now.Sub(since)
		if left > 0 && (next == 0 || left < next) {
			next = left
		}
		return left <= 0
	})
	if next > 0 {
		k.timer = time.AfterFunc(next, k.sweep)
	}
}

// stop drops everything.
func (k *replayBuffer) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	if k.timer != nil {
		k.timer.Stop()
	}
	k.discard(func(*stream) bool { return true })
}
