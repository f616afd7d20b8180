package tokenstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// TestNotLinked: a program that does not import the keyring is told so, and no token is
// written elsewhere.
func TestNotLinked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &tokenstore.Store{Path: filepath.Join(dir, "auth.json"), Keyring: true}
	_, read := s.Tokens("")
	for name, err := range map[string]error{"read": read, "write": s.Put(context.Background(), tokenstore.Token{Server: "https://example.com", Access: "a"})} {
		h, ok := errors.AsType[interface {
			error
			Hint() string
		}](err)
		if !ok || !errors.Is(err, tokenstore.ErrNotLinked) || !strings.Contains(h.Hint(), "runtime/auth/keyring") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "auth.json")); left != nil {
		t.Error("there is a token file")
	}
}
