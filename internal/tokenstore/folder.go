package tokenstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/seal"
)

// Folder keeps the tokens of the principals of a proxy: for each a file, encrypted with
// the folder's key under the file's name. The folder is made when something is first
// kept. Its methods may be called concurrently, by any number of processes.
type Folder struct {
	// Dir is the folder's path.
	Dir string
	// Keyring keeps the key in the keyring of the system in place of a file in the
	// folder.
	Keyring bool

	mu     sync.Mutex // guards what follows; held for memory work only
	box    *seal.Box
	stores map[string]*Store // by the name of the file

	making sync.Mutex // held while the key is read or made; taken before mu
}

const (
	keyFile = "key"
	// keyringKey names the folder's key in the keyring.
	keyringKey = "accounts"
	// maxStores bounds the stores that are remembered. Beyond it one is forgotten: it is
	// read again, but for tokens that could not be written.
	maxStores = 10000
	clients   = "clients-" // begins the name of a file with registrations
	extension = ".sealed"
)

// Of returns where the tokens of a principal are kept, by its ID.
func (f *Folder) Of(principal string) *Store { return f.store(fileOf("", principal)) }

// Clients returns where the registrations for a server are kept, by its configured name.
// Each server has its own, since each has another redirect.
func (f *Folder) Clients(server string) *Store { return f.store(fileOf(clients, server)) }

func fileOf(kind, name string) string {
	sum := sha256.Sum256([]byte(name))
	return kind + hex.EncodeToString(sum[:16]) + extension
}

func (f *Folder) store(name string) *Store {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.stores[name]; s != nil {
		return s
	}
	if f.stores == nil {
		f.stores = map[string]*Store{}
	}
	for old := range f.stores {
		if len(f.stores) < maxStores {
			break
		}
		delete(f.stores, old)
	}
	path := filepath.Join(f.Dir, name)
	s := &Store{Path: path, sealed: &sealedFile{tokenFile(path), name, f}}
	f.stores[name] = s
	return s
}

// Tokens returns the tokens of all principals, sorted by them. What cannot be read is
// left out, and the error says what.
func (f *Folder) Tokens() ([]Token, error) {
	entries, err := os.ReadDir(f.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var all []Token
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), extension) || strings.HasPrefix(e.Name(), clients) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		tokens, failed := f.store(e.Name()).Tokens("")
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		all = append(all, tokens...)
	}
	slices.SortStableFunc(all, func(a, b Token) int { return strings.Compare(a.Principal, b.Principal) })
	return all, err
}

// open returns what the files are encrypted with.
func (f *Folder) open() (*seal.Box, error) {
	f.making.Lock()
	defer f.making.Unlock()
	f.mu.Lock()
	box := f.box
	f.mu.Unlock()
	if box != nil {
		return box, nil
	}
	box, err := f.key()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.box = box
	return box, nil
}

// KeyFile returns the path of the file with the key, which need not exist.
func (f *Folder) KeyFile() string { return filepath.Join(f.Dir, keyFile) }

func (f *Folder) key() (*seal.Box, error) {
	path := f.KeyFile()
	if !f.Keyring {
		return seal.OpenBox(context.Background(), path) // its lock is bounded
	}
	unlock, err := atomicfile.Lock(context.Background(), path+".lock", lockWait)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	defer unlock()
	r := &systemKeyring{}
	text, err := r.get(keyringKey)
	if errors.Is(err, ErrNoEntry) {
		text = seal.NewBoxKey()
		err = r.set(keyringKey, text)
	}
	if err != nil {
		return nil, err
	}
	return seal.NewBox(text)
}

// sealedFile is an encrypted file of a folder.
type sealedFile struct {
	tokenFile
	name   string
	folder *Folder
}

func (f *sealedFile) repair() string { return "move it away to link accounts anew" }

func (f *sealedFile) read() ([]byte, error) {
	sealed, err := f.tokenFile.read()
	if err != nil {
		return nil, err
	}
	box, err := f.folder.open()
	if err != nil {
		return nil, err
	}
	document, err := box.Open(f.name, sealed)
	if err != nil {
		return nil, fmt.Errorf("%s: it cannot be decrypted with the key of its folder; %s", f, f.repair())
	}
	return document, nil
}

func (f *sealedFile) write(document []byte) error {
	box, err := f.folder.open()
	if err != nil {
		return err
	}
	return f.tokenFile.write(box.Seal(f.name, document))
}
