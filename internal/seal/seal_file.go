package seal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

const (
	// lockTimeout is how long the other process may take to put a key into the
	// file; one that takes longer has died at it.
	lockTimeout = 5 * time.Second
	lockPoll    = 20 * time.Millisecond
	// maxFile is the greatest size of the file, in bytes: it holds a few keys.
	maxFile = 1 << 20
)

// ringFile is a ring on disk, newest key first.
type ringFile struct {
	Keys []fileKey `json:"keys"`
}

type fileKey struct {
	ID   uint32    `json:"id"`
	Made time.Time `json:"made"`
	Key  []byte    `json:"key"` // base64
}

// OpenRing opens the ring in a file, and creates it where there is none,
// readable by its owner alone (0600). What is no regular file is refused at
// once. Any number of processes may use one file; what one seals, the others
// open, now and after a restart.
func OpenRing(path string) (*Keyring, error) {
	r := &Keyring{path: path}
	var err error
	if r.keys, err = readRing(path); errors.Is(err, fs.ErrNotExist) {
		err = r.rotateFile(time.Now())
	}
	if err != nil {
		return nil, fmt.Errorf("key ring %s: %w", path, err)
	}
	return r, nil
}

func readRing(path string) ([]ringKey, error) {
	raw, err := atomicfile.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	var f ringFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	var keys []ringKey
	for _, k := range f.Keys {
		if len(k.Key) != keySize {
			return nil, errors.New("a key has not 32 bytes")
		}
		keys = append(keys, keyOf(k.ID, k.Made, k.Key))
	}
	if len(keys) == 0 {
		return nil, errors.New("no keys")
	}
	return keys[:min(len(keys), maxKeys)], nil
}

// rotateFile puts a new key into the file, unless another process has just done
// so, and takes over what is in it then. One process at a time: of two that
// write side by side one would seal with a key nobody finds. The caller holds
// the lock, or has the ring to itself.
func (r *Keyring) rotateFile(now time.Time) error {
	leave, err := lockFile(r.path + ".lock")
	if err != nil {
		return err
	}
	defer leave()
	atomicfile.Sweep(r.path)
	keys, err := readRing(r.path)
	if err == nil && now.Sub(keys[0].made) < keyLifetime {
		r.keys = keys
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	keys = addKey(keys, now)
	var f ringFile
	for _, k := range keys {
		f.Keys = append(f.Keys, fileKey{k.id, k.made, k.raw})
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(r.path, append(raw, '\n'), 0o600); err != nil {
		return err
	}
	r.keys = keys
	return nil
}

// lockFile takes the lock to write, which is having created the file at path. A
// lock that is held too long belongs to a process that has died.
func lockFile(path string) (leave func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	until := time.Now().Add(lockTimeout)
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		switch {
		case err == nil:
			_ = f.Close() // nothing was written to it
			return func() { _ = os.Remove(path) }, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		case time.Now().After(until):
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			until = time.Now().Add(lockTimeout)
		}
		time.Sleep(lockPoll)
	}
}
