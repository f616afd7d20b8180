package authn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

const (
	// TokenFileName is the file's name in the state directory.
	TokenFileName = "access-tokens.json"
	// maxFile bounds the file, in bytes.
	maxFile = 4 << 20
	// lockWait bounds how long another process that changes the file is waited for.
	lockWait = 10 * time.Second
)

// ErrTokenNotFound is that no token has an id or a name.
var ErrTokenNotFound = errors.New("there is no such token")

// TokenFile is the file of the static tokens: their names and hashes. It need not exist, is
// private to its owner, and is replaced whole. A lock beside it is held while it is changed.
// Its methods may be called concurrently, also by several processes.
type TokenFile struct{ path string }

// NewTokenFile returns the file at a path.
func NewTokenFile(path string) *TokenFile { return &TokenFile{path} }

// Path returns where the file is.
func (f *TokenFile) Path() string { return f.path }

type document struct {
	Tokens []access.Token `json:"tokens"`
}

// List returns the tokens, the oldest first. A file that is not there has none.
func (f *TokenFile) List() ([]access.Token, error) {
	all, _, err := f.read()
	return all, err
}

// read returns the tokens as the file lists them, and to be looked up.
func (f *TokenFile) read() ([]access.Token, *access.Tokens, error) {
	var d document
	b, err := atomicfile.Read(f.path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		tokens, err := access.NewTokens(nil)
		return nil, tokens, err
	case err != nil:
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err = dec.Decode(&d)
	if err == nil && (d.Tokens == nil || dec.More()) {
		err = errors.New("want an object with tokens, and nothing after it")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s is not a file of tokens: %w", f.path, err)
	}
	tokens, err := access.NewTokens(d.Tokens)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return d.Tokens, tokens, nil
}

// Change has change return the tokens that the file is to have of those that it has.
// With an error the file stays as it is.
func (f *TokenFile) Change(ctx context.Context, change func([]access.Token) ([]access.Token, error)) error {
	err := atomicfile.Update(ctx, f.path, lockWait, func() ([]byte, error) {
		all, err := f.List()
		if err != nil {
			return nil, err
		}
		if all, err = change(all); err != nil {
			return nil, err
		}
		if all == nil {
			all = []access.Token{} // and not null
		}
		b, err := json.MarshalIndent(document{all}, "", "  ")
		return append(b, '\n'), err
	})
	if failed, ok := errors.AsType[*atomicfile.UpdateError](err); ok {
		return fmt.Errorf("%s: %w", f.path, failed)
	}
	return err
}

// FindToken returns where the token with an id is, or those with a name, an [ErrTokenNotFound]
// for none.
func FindToken(all []access.Token, word string) ([]int, error) {
	var found []int
	for i, t := range all {
		if t.ID == word {
			return []int{i}, nil
		}
		if t.Name == word {
			found = append(found, i)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%q: %w", word, ErrTokenNotFound)
	}
	return found, nil
}

// TokenFollower has the tokens of a file as it is: what another process changes holds from
// the next look on. It is safe for concurrent use.
type TokenFollower struct {
	f    *TokenFile
	now  func() time.Time
	look sync.Mutex // held by a look: an older one never replaces what a newer one has seen
	seen atomic.Pointer[contents]
}

// contents is what a look has seen.
type contents struct {
	tokens *access.Tokens // nil with err
	err    error
	info   os.FileInfo // nil where there was no file
}

// FollowTokens returns a follower that has read the file.
func (f *TokenFile) FollowTokens() *TokenFollower {
	w := &TokenFollower{f: f, now: time.Now}
	info, _ := os.Stat(f.path) // nil where there is none
	w.seen.Store(f.contents(info))
	return w
}

// Changed looks whether the file has changed, and reads it then. From a file that
// cannot be used on no token counts, until it can; see Failure.
func (w *TokenFollower) Changed() bool {
	w.look.Lock()
	defer w.look.Unlock()
	info, _ := os.Stat(w.f.path) // nil where there is none
	before := w.seen.Load()
	if before.err == nil && atomicfile.Unchanged(before.info, info) {
		return false
	}
	seen := w.f.contents(info)
	w.seen.Store(seen)
	return seen.err == nil || before.err == nil || before.err.Error() != seen.err.Error()
}

// Failure returns why the file cannot be used, nil where it can.
func (w *TokenFollower) Failure() error { return w.seen.Load().err }

// contents reads the file, whose state info was before that.
func (f *TokenFile) contents(info os.FileInfo) *contents {
	_, tokens, err := f.read()
	return &contents{tokens, err, info}
}

// Kind is that of static tokens.
func (*TokenFollower) Kind() string { return "token" }

// Principal returns whose token a credential is, or a refusal; nil and nil for one that
// has not the form of a static token. A token that is not known may be new: the file is
// looked at.
func (w *TokenFollower) Principal(_ context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if !access.IsToken(c.Bearer) {
		return nil, nil
	}
	p, refusal := w.principal(c.Bearer)
	if refusal == nil {
		return p, nil
	}
	w.Changed() // or somebody else has seen the change since
	return w.principal(c.Bearer)
}

func (w *TokenFollower) principal(token string) (*access.Principal, *access.Refusal) {
	tokens := w.seen.Load().tokens
	if tokens == nil {
		return nil, access.ErrUnavailable
	}
	return tokens.Principal(token, w.now())
}

// Valid reports whether a principal still has a token. While the file cannot be used it
// is true: no new token is accepted, and no session ends.
func (w *TokenFollower) Valid(p *access.Principal) bool {
	tokens := w.seen.Load().tokens
	return tokens == nil || tokens.Has(p, w.now())
}
