package authn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/test/require"
)

// add adds a token and returns its text.
func add(t *testing.T, f *TokenFile, name string) string {
	t.Helper()
	one, text := access.NewToken(name, nil, time.Now(), time.Time{})
	require.NoError(t, f.Change(t.Context(), func(all []access.Token) ([]access.Token, error) { return append(all, one), nil }))
	return text
}

func TestFile(t *testing.T) {
	t.Parallel()
	f := NewTokenFile(filepath.Join(t.TempDir(), "state", TokenFileName))
	if all, err := f.List(); all != nil || err != nil {
		t.Errorf("no file: got %v, %v", all, err)
	}
	text := add(t, f, "ci")
	b, err := os.ReadFile(f.Path())
	require.NoError(t, err)
	if strings.Contains(string(b), text[20:40]) {
		t.Error("the file has the secret")
	}
	info, err := os.Stat(f.Path())
	require.NoError(t, err)
	if info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("the file has mode %v", info.Mode())
	}
	require.NoError(t, f.Change(t.Context(), func([]access.Token) ([]access.Token, error) { return nil, nil }))
	if all, err := f.List(); len(all) > 0 || err != nil {
		t.Errorf("without tokens: got %v, %v", all, err)
	}
	require.NoError(t, os.WriteFile(f.Path(), b, 0o600))
	refused := errors.New("no")
	err = f.Change(t.Context(), func([]access.Token) ([]access.Token, error) { return nil, refused })
	if now, _ := os.ReadFile(f.Path()); !errors.Is(err, refused) || string(now) != string(b) {
		t.Errorf("got %v, and %s", err, now)
	}
}

// TestSideBySide: those who change the file at once lose nothing.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), TokenFileName)
	var wg sync.WaitGroup
	const n = 20
	for i := range n {
		wg.Go(func() {
			one, _ := access.NewToken(fmt.Sprint("t", i), nil, time.Now(), time.Time{})
			if err := NewTokenFile(path).Change(t.Context(), func(all []access.Token) ([]access.Token, error) { return append(all, one), nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := NewTokenFile(path).List(); len(all) != n || err != nil {
		t.Errorf("%d tokens, %v", len(all), err)
	}
}

// TestFollow: what others change holds at once, and from a file that cannot be used
// nobody new is let in.
func TestFollow(t *testing.T) {
	t.Parallel()
	f := NewTokenFile(filepath.Join(t.TempDir(), TokenFileName))
	w := f.FollowTokens()
	if w.Changed() {
		t.Error("nothing has changed")
	}
	add(t, f, "ci")
	if !w.Changed() || w.Changed() {
		t.Error("one change was not seen, or twice")
	}
	text := add(t, f, "ci") // a new token is looked for at once
	p, no := w.Principal(t.Context(), access.Credential{Bearer: text})
	if no != nil || p.Name != "ci" || !w.Valid(p) {
		t.Fatalf("got %v, %v", p, no)
	}
	for _, broken := range []string{"", "{", "[]", `{"tokens":[{"id":"a","sha256":"b"}]}`, `{"token":[]}`, "null x"} {
		require.NoError(t, os.WriteFile(f.Path(), []byte(broken), 0o600))
		_ = os.Chtimes(f.Path(), time.Time{}, time.Now().Add(time.Hour)) // in the same tick of the clock
		w.Changed()
		if _, no := w.Principal(t.Context(), access.Credential{Bearer: text}); no != access.ErrUnavailable || w.Failure() == nil || !w.Valid(p) {
			t.Errorf("%q: got %v, %v", broken, no, w.Failure())
		}
	}
	require.NoError(t, os.Remove(f.Path()))
	if !w.Changed() || w.Failure() != nil {
		t.Errorf("without the file: %v", w.Failure())
	}
	if _, no := w.Principal(t.Context(), access.Credential{Bearer: text}); no == nil || no.Status != 401 || w.Valid(p) {
		t.Errorf("without the file: got %v", no)
	}
}

// TestFollowAtOnce: a token is new, and the look that sees it is somebody else's, between
// the question whose it is and its own look.
func TestFollowAtOnce(t *testing.T) {
	t.Parallel()
	f := NewTokenFile(filepath.Join(t.TempDir(), TokenFileName))
	w := f.FollowTokens()
	text := add(t, f, "ci")
	w.now = func() time.Time { // the question has its tokens by now
		w.now = time.Now
		if !w.Changed() {
			t.Error("the change was not seen")
		}
		return time.Now()
	}
	if p, no := w.Principal(t.Context(), access.Credential{Bearer: text}); no != nil || p.Name != "ci" {
		t.Errorf("got %v, %v", p, no)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	all := []access.Token{{ID: "1", Name: "a"}, {ID: "2", Name: "b"}, {ID: "3", Name: "a"}, {ID: "a", Name: "c"}}
	for word, want := range map[string]string{"1": "[0]", "b": "[1]", "a": "[3]", "c": "[3]", "x": "[]", "": "[]"} {
		at, err := FindToken(all, word)
		if fmt.Sprint(at) != want || (at == nil) != errors.Is(err, ErrTokenNotFound) {
			t.Errorf("%q: got %v, %v", word, at, err)
		}
	}
	if at, _ := FindToken(all[:3], "a"); fmt.Sprint(at) != "[0 2]" {
		t.Errorf("got %v", at)
	}
}
