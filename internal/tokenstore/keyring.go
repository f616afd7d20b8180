package tokenstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"
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

// Keyring is the keyring of the system. An entry is named by its service and its user. Get
// returns [ErrNoEntry] for one that does not exist. The methods may wait for a person.
type Keyring interface {
	Get(service, user string) (string, error)
	Set(service, user, text string) error
	Delete(service, user string) error
}

// ErrNoEntry is the error of [Keyring] for an entry that does not exist.
var ErrNoEntry = errors.New("the keyring has no such entry")

// linked is what package runtime/auth/keyring has set, nil where the program does not import it.
//
//nolint:gochecknoglobals // set while packages initialise, as a driver of database/sql is
var linked Keyring

// LinkKeyring sets the keyring of all stores. Call it while packages initialise.
func LinkKeyring(k Keyring) { linked = k }

// ErrNotLinked is the error of a program that does not import package runtime/auth/keyring.
var ErrNotLinked error = notLinked{}

type notLinked struct{}

func (notLinked) Error() string {
	return "tokens are in the keyring of the system, which this program cannot use"
}

// Hint returns what fixes it.
func (notLinked) Hint() string {
	return `import _ "github.com/mcpctl/mcpctl/runtime/auth/keyring" in the program`
}

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
		case h.slot == "" && errors.Is(err, ErrNoEntry):
			return nil, fs.ErrNotExist
		case err == nil && sum(text) == h.sum:
			return []byte(text), nil
		case err == nil:
			failed = errParts
		case errors.Is(err, ErrNoEntry), errors.Is(err, errParts):
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
	if err != nil && !errors.Is(err, ErrNoEntry) {
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
		if _, err := r.do(func(k Keyring) (string, error) { return "", k.Delete(keyringService, h.entry(n)) }); err != nil {
			return
		}
	}
}

func (r *systemKeyring) get(user string) (string, error) {
	return r.do(func(k Keyring) (string, error) { return k.Get(keyringService, user) })
}

func (r *systemKeyring) set(user, text string) error {
	_, err := r.do(func(k Keyring) (string, error) { return "", k.Set(keyringService, user, text) })
	return err
}

// do asks the keyring for something, which may wait for a person for ever.
func (r *systemKeyring) do(ask func(Keyring) (string, error)) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead != nil {
		return "", r.dead
	}
	k := linked
	if k == nil {
		return "", ErrNotLinked
	}
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() { // ends when the keyring answers, at the latest with the process
		text, err := ask(k)
		got <- answer{text, err}
	}()
	limit := time.NewTimer(keyringWait)
	defer limit.Stop()
	select {
	case a := <-got:
		if a.err != nil && !errors.Is(a.err, ErrNoEntry) {
			a.err = &KeyringError{a.err}
		}
		return a.text, a.err
	case <-limit.C:
		r.dead = &KeyringError{fmt.Errorf("it has not answered within %v", keyringWait)}
		return "", r.dead
	}
}

// KeyringError is a keyring that cannot be used. It unwraps to nothing: where the socket
// of the session does not exist, tokens may.
type KeyringError struct{ err error }

// Error says why.
func (e *KeyringError) Error() string { return "the keyring cannot be used: " + e.err.Error() }

// Hint returns what fixes it.
func (e *KeyringError) Hint() string {
	return "start and unlock a keyring, as gnome-keyring-daemon or KWallet, or set auth.store to file in config.yaml"
}
