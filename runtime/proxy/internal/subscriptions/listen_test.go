package subscriptions

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// TestListenKeepsWithinBounds: what waits for a client that does not read is the
// newest of each, and no more than there is room for.
func TestListenKeepsWithinBounds(t *testing.T) {
	t.Parallel()
	s := &listening{id: []byte(`1`), wake: make(chan struct{}, 1), waits: map[string]int{}}
	for i := range 2 * maxWaiting {
		s.Notify("notifications/resources/updated", fmt.Appendf(nil, `{"uri":"x:%d"}`, i))
		s.Notify("notifications/resources/updated", fmt.Appendf(nil, `{"uri":"x:","at":%d}`, i))
		s.Notify("notifications/tools/list_changed", nil)
	}
	all := s.take()
	if len(all) != maxWaiting {
		t.Errorf("%d wait", len(all))
	}
	text := string(bytes.Join(all[:4], nil))
	for _, want := range []string{`"uri":"x:0"`, fmt.Sprintf(`"at":%d,`, 2*maxWaiting-1), "tools/list_changed"} {
		if strings.Count(text, want) != 1 && strings.Count(text, strings.TrimSuffix(want, ",")+"}") != 1 {
			t.Errorf("%s is not there once: %s", want, text)
		}
	}
}

// TestListenHasAShare: where much waits for clients in all, a listen has its share.
func TestListenHasAShare(t *testing.T) {
	t.Parallel()
	all := new(limits.Counter)
	all.Add(limits.MaxUnsent + 1)
	l := &listening{id: []byte("1"), wake: make(chan struct{}, 1), unsent: all, waits: map[string]int{}}
	for i := range 10 {
		l.Notify("notifications/resources/updated", fmt.Appendf(nil, `{"uri":"u%d","x":"%s"}`, i, strings.Repeat("x", limits.FairShare/4)))
	}
	if l.bytes > limits.FairShare || l.bytes == 0 {
		t.Errorf("a listen has %d bytes", l.bytes)
	}
	l.end()
	if n := all.N.Load(); n != limits.MaxUnsent+1 {
		t.Errorf("%d bytes are not given back", n-limits.MaxUnsent-1)
	}
}

// TestSessionSubscribesWithinBounds: to no more resources than one listen may.
func TestSessionSubscribesWithinBounds(t *testing.T) {
	t.Parallel()
	from := &upstream.Caller{Client: upstream.NewClient(func([]byte) error { return nil })}
	h := NewHub(nil, nil, nil, nil, nil)
	h.watches[from.Client] = map[string]func(){}
	for i := range MaxWatched {
		h.watches[from.Client][strconv.Itoa(i)] = func() {}
	}
	if err := h.SubscribeClient(t.Context(), from, "0"); err != nil {
		t.Error(err)
	}
	err := h.SubscribeClient(t.Context(), from, "new")
	if rpc, _ := errors.AsType[*runtime.Error](err); rpc == nil || rpc.Code != runtime.CodeInvalidParams {
		t.Error(err)
	}
}
