package tokenstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"
)

const (
	// keyringService and keyringUser name the first entry of the document.
	keyringService = "mcpctl"
	keyringUser    = "tokens"
	// keyringPart bounds an entry, in bytes. Windows takes 2,560, macOS about 3,000.
	keyringPart = 2000
	// keyringParts bounds how many of them the document has.
	keyringParts = 200
	// keyringWait bounds how long one entry is waited for: a person may have to unlock
	// the keyring.
	keyringWait = 30 * time.Second
)

// systemKeyring keeps tokens in the keyring of the system: Secret Service, Keychain or Credential
// Manager. Their entries are small, so the document is cut in parts. The first part has a
// line before it that says which entries the others are, and replacing it is what
// replaces the document: the other parts of a new document are written before that, to
// entries that the old one does not use.
type systemKeyring struct {
	mu   sync.Mutex // guards dead
	dead error      // the keyring has not answered, and is not asked again
}

func (r *systemKeyring) String() string { return "the keyring, service " + keyringService }

func (r *systemKeyring) repair() string {
	return "remove the entries of " + keyringService + " there to log in anew"
}

// head is the line before the first part.
type head struct {
	slot string // of the other parts: "a" or "b"
	more int    // how many those are
	sum  string // of the document
}

func (h head) entry(n int) string { return keyringUser + "." + h.slot + "." + strconv.Itoa(n) }

// other returns the head of a document that is to replace this one's.
func (h head) other() head {
	if h.slot == "a" {
		return head{slot: "b"}
	}
	return head{slot: "a"}
}

func (r *systemKeyring) head() (h head, first string, err error) {
	text, err := r.get(keyringUser)
	if err != nil {
		return head{}, "", err
	}
	line, first, _ := strings.Cut(text, "\n")
	if _, err := fmt.Sscanf(line, "%1s %d %64s", &h.slot, &h.more, &h.sum); err != nil || h.more < 0 || h.more > keyringParts {
		return head{}, "", errParts
	}
	return h, first, nil
}

// errParts are entries that do not make one document.
var errParts = errors.New("its entries do not belong together")

func (r *systemKeyring) read() ([]byte, error) {
	var failed error
	for range 5 { // another process may replace the document meanwhile
		h, text, err := r.head()
		for n := 1; err == nil && n <= h.more; n++ {
			var part string
			part, err = r.get(h.entry(n))
			text += part
		}
		switch {
		case h.slot == "" && errors.Is(err, keyring.ErrNotFound):
			return nil, fs.ErrNotExist
		case err == nil && sum(text) == h.sum:
			return []byte(text), nil
		case err == nil:
			failed = errParts
		case errors.Is(err, keyring.ErrNotFound), errors.Is(err, errParts):
			failed = errParts
		default:
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w; %s", r, failed, r.repair())
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func (r *systemKeyring) write(document []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, document); err != nil {
		return err
	}
	text := b.String()
	old, _, err := r.head()
	if err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return err
	}
	h := old.other()
	h.sum = sum(text)
	first, rest := cut(text)
	for rest != "" {
		var part string
		part, rest = cut(rest)
		h.more++
		if h.more > keyringParts {
			return fmt.Errorf("%s: these are too many tokens for it", r)
		}
		if err := r.set(h.entry(h.more), part); err != nil {
			return err
		}
	}
	r.trim(h, h.more+1) // of a write that was killed
	if err := r.set(keyringUser, fmt.Sprintf("%s %d %s\n%s", h.slot, h.more, h.sum, first)); err != nil {
		return err
	}
	r.trim(old, 1)
	return nil
}

// sweep leaves what there is: write has its own way.
func (r *systemKeyring) sweep() {}

func cut(text string) (part, rest string) {
	n := min(len(text), keyringPart)
	return text[:n], text[n:]
}

// trim removes parts from the n-th on. What cannot be removed stays: the next write
// overwrites it, or tries again.
func (r *systemKeyring) trim(h head, n int) {
	for ; n <= keyringParts; n++ {
		if _, err := r.do(func() (string, error) { return "", keyring.Delete(keyringService, h.entry(n)) }); err != nil {
			return
		}
	}
}

func (r *systemKeyring) get(user string) (string, error) {
	return r.do(func() (string, error) { return keyring.Get(keyringService, user) })
}

func (r *systemKeyring) set(user, text string) error {
	_, err := r.do(func() (string, error) { return "", keyring.Set(keyringService, user, text) })
	return err
}

// do asks the keyring for something, which may wait for a person for ever.
func (r *systemKeyring) do(ask func() (string, error)) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead != nil {
		return "", r.dead
	}
	if err := noSession(); err != nil {
		return "", err
	}
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() { // ends when the keyring answers, at the latest with the process
		text, err := ask()
		got <- answer{text, err}
	}()
	limit := time.NewTimer(keyringWait)
	defer limit.Stop()
	select {
	case a := <-got:
		if a.err != nil && !errors.Is(a.err, keyring.ErrNotFound) {
			a.err = &KeyringError{a.err}
		}
		return a.text, a.err
	case <-limit.C:
		r.dead = &KeyringError{fmt.Errorf("it has not answered within %v", keyringWait)}
		return "", r.dead
	}
}

// noSession returns why there can be no Secret Service, nil where there may be one. The
// library would start a D-Bus session for itself, and leave it running.
func noSession() error {
	switch goruntime.GOOS {
	case "darwin", "windows":
		return nil
	}
	if at := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); at != "" && !strings.HasPrefix(at, "autolaunch:") {
		return nil
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat("/run/user/" + strconv.Itoa(os.Getuid()) + "/" + name); err == nil {
			return nil
		}
	}
	return &KeyringError{errors.New("there is no D-Bus session, which it is reached by")}
}

// KeyringError is a keyring that cannot be used. It unwraps to nothing: where the socket
// of the session does not exist, tokens may.
type KeyringError struct{ err error }

// Error says why.
func (e *KeyringError) Error() string { return "the keyring cannot be used: " + e.err.Error() }

// Hint returns what mends it.
func (e *KeyringError) Hint() string {
	return "start and unlock a keyring, as gnome-keyring-daemon or KWallet, or set auth.store to file in config.yaml"
}
