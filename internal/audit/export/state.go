package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// maxState is the greatest size of the file, in bytes: it has a line a target.
const maxState = 1 << 20

// state is what targets have been sent, by kind and target, in a file; without a path, in
// memory.
type state struct {
	path string

	mu   sync.Mutex // guards what follows
	sent map[string]position
}

// position is what a target has.
type position struct {
	// Next is the number of the record that is sent next, Checkpoint the size of the last
	// checkpoint.
	Next       int64 `json:"next,omitempty"`
	Checkpoint int64 `json:"checkpoint,omitempty"`
}

func openState(path string) (*state, error) {
	s := &state{path: path, sent: map[string]position{}}
	raw, err := atomicfile.Read(path, maxState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(raw, &s.sent); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; without it, collectors get all records again", path, err)
	}
	return s, nil
}

// Sent returns what the targets of the log in a folder have been sent, by kind and target.
func Sent(dir string) (all []Status, err error) {
	s, err := openState(statePath(dir))
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.sent)) {
		kind, to, _ := strings.Cut(name, " ")
		p := s.sent[name]
		all = append(all, Status{Kind: kind, Target: to, Next: max(p.Next, p.Checkpoint)})
	}
	return all, nil
}

func statePath(dir string) string { return filepath.Join(dir, "audit-export.json") }

func (s *state) get(name string) position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[name]
}

// set keeps what a target has.
func (s *state) set(name string, p position) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent[name] == p || s.path == "" {
		s.sent[name] = p
		return nil
	}
	next := maps.Clone(s.sent)
	next[name] = p
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(s.path, raw, 0o600); err != nil {
		return err
	}
	s.sent = next
	return nil
}
