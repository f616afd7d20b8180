package logfile

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// Key is the file of a log's keys: one signs checkpoints, one is for digests. All methods
// may be called concurrently, and any number of processes may use the file.
type Key struct {
	path string
	macs sync.Pool // of *mac

	mu   sync.Mutex // guards what follows
	file keyFile
	seen fs.FileInfo // of the file when it was read
}

// keyFile is the file's JSON.
type keyFile struct {
	// ID names the log.
	ID string `json:"id"`
	// Seed is that of the Ed25519 key that signs, MAC the key of digests, both base64.
	Seed []byte `json:"seed"`
	MAC  []byte `json:"mac"`
	// Former are the verifier keys of those that have signed before, newest first.
	Former []string `json:"former,omitempty"`
}

const (
	keySize    = 32
	maxKeyFile = 1 << 20
	// keyLock is how long another process may take to make the file.
	keyLock = 10 * time.Second
)

// DigestPrefix begins each digest of a key.
const DigestPrefix = "hmac:"

// OpenKey reads the key file at path, and makes it where there is none, for its owner alone.
// One that others may read or write is refused.
func OpenKey(path string) (*Key, error) {
	k := &Key{path: path}
	err := k.read()
	if errors.Is(err, fs.ErrNotExist) {
		err = k.make()
	}
	if err != nil {
		return nil, fmt.Errorf("key of the audit log: %w", err)
	}
	secret := k.file.MAC
	k.macs.New = func() any { return &mac{Hash: hmac.New(sha256.New, secret)} }
	return k, nil
}

// mac makes digests, with room for one.
type mac struct {
	hash.Hash
	sum [sha256.Size]byte
}

// read reads the file. The caller has the lock, or has the key to itself.
func (k *Key) read() error {
	info, err := os.Stat(k.path)
	if err != nil {
		return err
	}
	const others = 0o077
	if runtime.GOOS != "windows" && info.Mode().Perm()&others != 0 {
		return fmt.Errorf("%s: others may read or write it; run: chmod 600 %s", k.path, k.path)
	}
	raw, err := atomicfile.Read(k.path, maxKeyFile)
	if err != nil {
		return err
	}
	var f keyFile
	if err := json.Unmarshal(raw, &f); err != nil || f.ID == "" || len(f.Seed) != keySize || len(f.MAC) != keySize {
		return fmt.Errorf("%s: it has no keys of an audit log; restore a copy, or move it and the log away to begin a new log", k.path)
	}
	k.file, k.seen = f, info
	return nil
}

// make makes the file, unless another process has.
func (k *Key) make() error {
	unlock, err := atomicfile.Lock(context.Background(), k.path+".lock", keyLock)
	if err != nil {
		return err
	}
	defer unlock()
	if err := k.read(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return k.write(keyFile{ID: hex.EncodeToString(random()[:8]), Seed: random(), MAC: random()})
}

func (k *Key) write(f keyFile) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(k.path, append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return k.read()
}

func random() []byte {
	b := make([]byte, keySize)
	_, _ = rand.Read(b) // never fails
	return b
}

// Path returns where the file is.
func (k *Key) Path() string { return k.path }

// Origin returns the origin of the log's checkpoints.
func (k *Key) Origin() string { return merkle.Origin(k.current().ID) }

// Digest returns the keyed digest of bytes, as records have it.
func (k *Key) Digest(b []byte) string { return string(k.AppendDigest(nil, b)) }

// AppendDigest appends what Digest returns.
func (k *Key) AppendDigest(dst, b []byte) []byte {
	m := k.macs.Get().(*mac) //nolint:forcetypeassert // it has nothing else
	m.Reset()
	m.Write(b)
	dst = base64.RawURLEncoding.AppendEncode(append(dst, DigestPrefix...), m.Sum(m.sum[:0]))
	k.macs.Put(m)
	return dst
}

// Verifier returns the public key as a verifier key of a signed note: who has it can verify
// the log.
func (k *Key) Verifier() string {
	f := k.current()
	return verifierOf(f.ID, f.Seed)
}

// Verifiers returns the public key and those that have signed before, newest first.
func (k *Key) Verifiers() []string {
	f := k.current()
	return append([]string{verifierOf(f.ID, f.Seed)}, f.Former...)
}

func (k *Key) current() keyFile {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.file
}

// signer returns what signs now: another process may have replaced the key.
func (k *Key) signer() (note.Signer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if info, err := os.Stat(k.path); err != nil || !atomicfile.Unchanged(k.seen, info) {
		id := k.file.ID
		if err := k.read(); err != nil {
			return nil, err
		}
		if k.file.ID != id {
			return nil, fmt.Errorf("%s: it is the key of another log now", k.path)
		}
	}
	return signerOf(k.file.ID, k.file.Seed)
}

// replace makes the seed that which signs. The caller has begun to write the log, so that no
// other process does.
func (k *Key) replace(seed []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.file
	f.Former = append([]string{verifierOf(f.ID, f.Seed)}, f.Former...)
	f.Seed = seed
	return k.write(f)
}

// verifierOf returns the verifier key of a seed; it has a name that notes can have.
func verifierOf(id string, seed []byte) string {
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	v, err := note.NewEd25519VerifierKey(merkle.Origin(id), public)
	if err != nil {
		panic(err) // the length is right
	}
	return v
}

func signerOf(id string, seed []byte) (note.Signer, error) {
	const ed25519Key = 1 // of signed notes
	_, rest, _ := strings.Cut(verifierOf(id, seed), "+")
	keyHash, _, _ := strings.Cut(rest, "+")
	private := base64.StdEncoding.EncodeToString(append([]byte{ed25519Key}, seed...))
	return note.NewSigner("PRIVATE+KEY+" + merkle.Origin(id) + "+" + keyHash + "+" + private)
}
