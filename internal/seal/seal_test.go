package seal_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/test/require"
)

func opens(t *testing.T, r *seal.Keyring, sealed string) {
	t.Helper()
	got, err := r.Open("state", sealed)
	if err != nil || string(got) != "plain" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSealed(t *testing.T) {
	r := seal.NewKeyring()
	sealed := r.Seal("state", []byte("plain"), time.Minute)
	opens(t, r, sealed)
	if again := r.Seal("state", []byte("plain"), time.Minute); again == sealed {
		t.Error("two seals of one text are equal")
	}
	if empty, err := r.Open("state", r.Seal("state", nil, 0)); err != nil || len(empty) != 0 {
		t.Errorf("nothing sealed: got %q, %v", empty, err)
	}
	if raw, _ := base64.RawURLEncoding.DecodeString(sealed); bytes.Contains(raw, []byte("plain")) {
		t.Error("the text can be read")
	}
	if _, err := r.Open("cursor", sealed); !errors.Is(err, seal.ErrTampered) {
		t.Errorf("for another purpose: %v", err)
	}
	if _, err := seal.NewKeyring().Open("state", sealed); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("with another ring: %v", err)
	}
}

// TestSealedTampered: no single character can be changed, left out or added.
func TestSealedTampered(t *testing.T) {
	r := seal.NewKeyring()
	sealed := r.Seal("state", []byte("plain"), time.Minute)
	for i := range sealed {
		other := byte('A')
		if sealed[i] == other {
			other = 'B'
		}
		for _, text := range []string{sealed[:i] + string(other) + sealed[i+1:], sealed[:i] + sealed[i+1:], sealed[:i], sealed + sealed[:i+1]} {
			if got, err := r.Open("state", text); err == nil {
				t.Fatalf("changed at %d: opens as %q", i, got)
			}
		}
	}
	for _, text := range []string{"", "A", "AQ", "AQAAAAA", "äöü", sealed + "=", sealed + "\n", sealed[:9] + "\r\n" + sealed[9:]} {
		if _, err := r.Open("state", text); err == nil {
			t.Errorf("%q opens", text)
		}
	}
}

func TestSealedExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := seal.NewKeyring()
		short, long := r.Seal("state", []byte("plain"), seal.StateTTL), r.Seal("state", []byte("plain"), 1000*time.Hour)
		time.Sleep(seal.StateTTL - time.Second)
		opens(t, r, short)
		time.Sleep(2 * time.Second)
		if _, err := r.Open("state", short); !errors.Is(err, seal.ErrExpired) {
			t.Errorf("after its time: %v", err)
		}
		opens(t, r, long)
		time.Sleep(24 * time.Hour)
		if _, err := r.Open("state", long); !errors.Is(err, seal.ErrExpired) {
			t.Errorf("a text lives longer than a day: %v", err)
		}
	})
}

// TestRingRotates: what is sealed with the last key still opens, what was sealed
// with one before does not.
func TestRingRotates(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) *seal.Keyring{
		"memory": func(*testing.T) *seal.Keyring { return seal.NewKeyring() },
		"file":   func(t *testing.T) *seal.Keyring { return openRing(t, filepath.Join(t.TempDir(), "ring.json")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t)
				time.Sleep(23 * time.Hour)
				first := r.Seal("state", []byte("plain"), 0)
				time.Sleep(2 * time.Hour)
				second := r.Seal("state", []byte("plain"), 0)
				if first[:6] == second[:6] {
					t.Fatal("the key has not changed after a day")
				}
				time.Sleep(20 * time.Hour)
				opens(t, r, first)
				opens(t, r, second)
				time.Sleep(4*time.Hour + time.Minute)
				r.Seal("state", nil, 0)
				if _, err := r.Open("state", first); !errors.Is(err, seal.ErrUnknownKey) {
					t.Errorf("two keys later: %v", err)
				}
			})
		})
	}
}

func openRing(t *testing.T, path string) *seal.Keyring {
	t.Helper()
	r, err := seal.OpenRing(path)
	require.NoError(t, err)
	return r
}

// TestRingIsShared: of many processes that open one file at once, each opens
// what any other seals, also after one has put a new key there.
func TestRingIsShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "ring.json")
	rings := make([]*seal.Keyring, 8)
	var wg sync.WaitGroup
	for i := range rings {
		wg.Go(func() {
			r, err := seal.OpenRing(path)
			if err != nil {
				t.Error(err)
			}
			rings[i] = r
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for _, from := range rings {
		sealed := from.Seal("state", []byte("plain"), time.Minute)
		for _, to := range rings {
			opens(t, to, sealed)
		}
	}
	info, err := os.Stat(path)
	if err != nil || goruntime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(path + ".lock"); err == nil {
		t.Error("the lock is left behind")
	}
}

func TestRingRotatesForAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring.json")
	synctest.Test(t, func(t *testing.T) {
		a, b := openRing(t, path), openRing(t, path)
		old := b.Seal("state", []byte("plain"), 0)
		time.Sleep(25 * time.Hour)
		fresh := a.Seal("state", []byte("plain"), 0)
		opens(t, b, fresh)
		if _, err := b.Open("state", old); !errors.Is(err, seal.ErrExpired) {
			t.Errorf("the last key is lost: %v", err)
		}
		if again := b.Seal("state", nil, 0); again[:6] != fresh[:6] {
			t.Error("the second process has made a key of its own")
		}
	})
}

func TestRingFileIsBroken(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{", "no keys": `{"keys":[]}`, "short key": `{"keys":[{"id":1,"made":"2026-01-01T00:00:00Z","key":"AAAA"}]}`,
	} {
		path := filepath.Join(t.TempDir(), "ring.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := seal.OpenRing(path); err == nil {
			t.Errorf("%s: opens", name)
		}
	}
}

// TestRingLeftover: the keys of a process that was killed while it wrote them
// are gone when the next one writes.
func TestRingLeftover(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, ".ring.json.1234567890.tmp")
	require.NoError(t, os.WriteFile(left, []byte("keys"), 0o600))
	openRing(t, filepath.Join(dir, "ring.json"))
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestRingDeadWriter: a process that died with the lock does not stop the rest.
func TestRingDeadWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring.json")
	require.NoError(t, os.WriteFile(path+".lock", nil, 0o600))
	synctest.Test(t, func(t *testing.T) { openRing(t, path) })
}

// FuzzOpen: no text opens but one that was sealed.
func FuzzOpen(f *testing.F) {
	r := seal.NewKeyring()
	sealed := r.Seal("state", []byte("plain"), 0)
	for _, s := range []string{"", "AQ", sealed, sealed[:len(sealed)-1], sealed + "A", r.Seal("other", nil, 0)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := r.Open("state", text); err == nil && text != sealed {
			t.Errorf("%q opens as %q", text, got)
		}
	})
}
