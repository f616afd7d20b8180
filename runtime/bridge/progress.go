package bridge

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

const (
	// keepAliveEvery is how often a caller gets progress while a question waits
	// for its answer: well below the minute after which clients commonly give
	// up.
	keepAliveEvery = 15 * time.Second
	keepAliveStep  = 0.001
)

// progress is the progress of a call that takes several requests, made to
// increase only (2025-11-25, Utilities, Progress).
type progress struct {
	runtime.Handler
	token json.RawMessage // the caller's, nil where it wants no progress

	mu         sync.Mutex // guards what follows
	last       float64
	increasing bool // only more than last is passed on
}

// Notification implements [runtime.Handler].
func (s *progress) Notification(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) {
	if method == revision.NotificationProgress && !s.advance(params) {
		return
	}
	s.Handler.Notification(ctx, call, method, params)
}

func (s *progress) advance(params json.RawMessage) bool {
	at, err := rawjson.Field(params, "progress")
	if err != nil {
		return true // whatever it is, it is not ours to judge
	}
	n, err := strconv.ParseFloat(string(at.Of(params)), 64)
	if err != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.increasing && n <= s.last {
		return false
	}
	s.last = n
	return true
}

// resent records that the call is sent again, whose progress may start over.
func (s *progress) resent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.increasing = true
}

// keepAlive sends progress, to a caller that wants it, for a call that waits.
func (s *progress) keepAlive(ctx context.Context, call *runtime.Request, message string) {
	if s.token == nil {
		return
	}
	s.mu.Lock()
	s.increasing = true
	next := math.Round((s.last+keepAliveStep)*1000) / 1000
	if next <= s.last { // so large that the step is lost
		next = math.Nextafter(s.last, math.Inf(1))
	}
	s.last = next
	s.mu.Unlock()
	params := append([]byte(`{"progressToken":`), s.token...)
	params = strconv.AppendFloat(append(params, `,"progress":`...), next, 'f', -1, 64)
	s.Handler.Notification(ctx, call, revision.NotificationProgress, append(rawjson.Quote(append(params, `,"message":`...), message), '}'))
}
