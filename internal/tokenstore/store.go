package tokenstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// Token is what is kept of one server's authorization. In memory and in the file it is
// plain text: its String has none of it.
type Token struct {
	Server    string    `json:"server"` // see auth.Canonical
	Issuer    string    `json:"issuer,omitempty"`
	ByEntry   bool      `json:"issuerOfEntry,omitempty"` // the entry names the issuer, not the server
	Principal string    `json:"principal,omitempty"`     // "" is this machine's user
	Access    string    `json:"accessToken"`
	Refresh   string    `json:"refreshToken,omitempty"`
	Type      string    `json:"tokenType,omitempty"` // "" is Bearer
	Key       string    `json:"key,omitempty"`       // PEM of the private key that it is bound to, "" for none
	Scopes    []string  `json:"scopes,omitempty"`
	Expires   time.Time `json:"expiresAt,omitzero"` // zero: it has not said
	Obtained  time.Time `json:"obtainedAt,omitzero"`
	Source    string    `json:"source"` // one of the Source constants
	// What refreshing and revoking need.
	TokenURL  string `json:"tokenEndpoint,omitempty"`
	RevokeURL string `json:"revocationEndpoint,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Client    Client `json:"client,omitzero"`
}

// Sources of a token.
const (
	SourceOAuth    = "oauth"
	SourceExternal = "external" // a command or a file of the entry; never kept
	SourceManual   = "manual"   // made by hand and typed by a person
)

// Client is how a client is known to an issuer.
type Client struct {
	Issuer   string `json:"issuer,omitempty"`
	ID       string `json:"clientId,omitempty"`
	Secret   string `json:"clientSecret,omitempty"`
	Method   string `json:"tokenEndpointAuthMethod,omitempty"` // "" is none
	Redirect string `json:"redirectUri,omitempty"`
	// Expires is when the secret does; zero is never.
	Expires time.Time `json:"expiresAt,omitzero"`
	// Registered is when we were registered, zero where that is not known.
	Registered time.Time `json:"registeredAt,omitzero"`
}

// String names the token and has nothing of it.
func (t Token) String() string { return "token for " + t.Server }

// GoString is String: %#v must not show it either.
func (t Token) GoString() string { return t.String() }

// Same reports whether another token is for the same server, issuer and person.
func (t Token) Same(o Token) bool {
	return t.Principal == o.Principal && t.Server == o.Server && t.Issuer == o.Issuer
}

// endsSoon is how long before its end a token is reported.
const endsSoon = 24 * time.Hour

// NeedsLogin reports whether a person has to log in again: the token has ended, or ends
// within a day, and nothing else can get another.
func (t Token) NeedsLogin(now time.Time) bool {
	byMachine := t.TokenURL == "" // its grant is used again
	return t.Refresh == "" && !byMachine && !t.Expires.IsZero() && t.Expires.Before(now.Add(endsSoon))
}

// tokens is the document that has all tokens.
type tokens struct {
	Version int      `json:"version"`
	Tokens  []Token  `json:"tokens"`
	Clients []Client `json:"clients,omitempty"`
}

// fileVersion is that of the document. A newer one is not overwritten.
const fileVersion = 1

// Store keeps tokens: in a file, or in the keyring of the system. Its methods may be
// called concurrently, by any number of processes.
type Store struct {
	// Path is the token file's; its folder is made when something is first kept. The
	// locks are beside it, also where tokens are in the keyring.
	Path string
	// Keyring keeps tokens in the keyring in place of the file.
	Keyring bool

	sealed *sealedFile // of a Folder, nil for none

	once sync.Once
	at   backend
	said atomic.Bool // that it fails

	mu     sync.Mutex // guards memory
	memory []Token    // that could not be kept: they serve this process
}

// backend is where the document with all tokens is.
type backend interface {
	// read returns the document, [fs.ErrNotExist] where there is none. It takes no
	// lock.
	read() ([]byte, error)
	// write replaces it; readers have the old or the new one. The caller holds the
	// lock.
	write(document []byte) error
	// sweep removes what a killed write has left. The caller holds the lock.
	sweep()
	// String says where it is.
	String() string
	// repair returns how to be rid of a document that cannot be read.
	repair() string
}

func (s *Store) backend() backend {
	s.once.Do(func() {
		switch {
		case s.sealed != nil:
			s.at = s.sealed
		case s.Keyring:
			s.at = &systemKeyring{}
		default:
			s.at = tokenFile(s.Path)
		}
	})
	return s.at
}

// Place says where tokens are kept: the path of the file, or the keyring.
func (s *Store) Place() string { return s.backend().String() }

// lockWait bounds how long a process waits for another's writing or refreshing.
const lockWait = 30 * time.Second

// Tokens returns what is kept for a server, newest first; server "" is for all.
func (s *Store) Tokens(server string) ([]Token, error) {
	s.mu.Lock()
	all := slices.Clone(s.memory)
	s.mu.Unlock()
	k, err := s.read()
	if err != nil && len(all) == 0 {
		return nil, err
	}
	if err == nil {
		for _, t := range k.Tokens {
			if !slices.ContainsFunc(all, t.Same) {
				all = append(all, t)
			}
		}
	}
	return slices.DeleteFunc(all, func(t Token) bool { return server != "" && t.Server != server }), nil
}

func (s *Store) read() (*tokens, error) {
	raw, err := s.backend().read()
	if errors.Is(err, fs.ErrNotExist) {
		return &tokens{Version: fileVersion}, nil
	}
	if err != nil {
		return nil, err
	}
	var k tokens
	if json.Unmarshal(raw, &k) != nil { // its error quotes what may be a token
		return nil, fmt.Errorf("%s: it is not valid JSON; %s", s.Place(), s.backend().repair())
	}
	if k.Version > fileVersion {
		return nil, fmt.Errorf("%s is of a newer mcpctl", s.Place())
	}
	return &k, nil
}

// update changes the document under a lock that all processes take. Where change
// reports false nothing is written.
func (s *Store) update(ctx context.Context, change func(*tokens) bool) error {
	unlock, err := s.lock(ctx, "write", lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	s.backend().sweep()
	k, err := s.read()
	if err != nil {
		return err
	}
	if !change(k) {
		return nil
	}
	raw, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return s.backend().write(append(raw, '\n'))
}

// LockRefresh takes the lock under which one process refreshes a token.
func (s *Store) LockRefresh(ctx context.Context) (unlock func(), err error) {
	return s.lock(ctx, "refresh", lockWait)
}

// LockLogin takes the lock under which one process has a person log in to a server, and
// waits for within at most: the error is then [ErrLocked].
func (s *Store) LockLogin(ctx context.Context, server string, within time.Duration) (unlock func(), err error) {
	digest := sha256.Sum256([]byte(server))
	return s.lock(ctx, "login-"+hex.EncodeToString(digest[:8]), within)
}

// ErrLocked is that another process has a lock.
var ErrLocked = errors.New("another process holds it")

// lock takes a lock beside the file.
func (s *Store) lock(ctx context.Context, what string, within time.Duration) (unlock func(), err error) {
	unlock, err = atomicfile.Lock(ctx, s.Path+"."+what+".lock", within)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = ErrLocked
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.Path, err)
	}
	return unlock, nil
}

// Put keeps a token in the place of the one before it. One that cannot be kept serves
// this process.
func (s *Store) Put(ctx context.Context, t Token) error {
	err := s.update(ctx, func(k *tokens) bool {
		k.Tokens = append([]Token{t}, slices.DeleteFunc(k.Tokens, t.Same)...)
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory = slices.DeleteFunc(s.memory, t.Same)
	if err != nil {
		s.memory = append(s.memory, t)
	}
	return err
}

// Unstored reports whether a token that was put is not in the store, and serves this process
// alone.
func (s *Store) Unstored(t Token) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.memory, t.Same)
}

// Drop forgets one token, but not another that has come in its place.
func (s *Store) Drop(ctx context.Context, t Token) error {
	_, err := s.remove(ctx, func(o Token) bool { return o.Same(t) && o.Access == t.Access })
	return err
}

// Remove drops what is kept for a server, and returns it.
func (s *Store) Remove(ctx context.Context, server string) (gone []Token, err error) {
	return s.remove(ctx, func(t Token) bool { return t.Server == server })
}

func (s *Store) remove(ctx context.Context, which func(Token) bool) (gone []Token, err error) {
	s.mu.Lock()
	s.memory = slices.DeleteFunc(s.memory, which)
	s.mu.Unlock()
	err = s.update(ctx, func(k *tokens) bool {
		k.Tokens = slices.DeleteFunc(k.Tokens, func(t Token) bool {
			if which(t) {
				gone = append(gone, t)
			}
			return which(t)
		})
		return len(gone) > 0
	})
	return gone, err
}

// Warn says that the store fails: the first time only, for any number of tokens.
func (s *Store) Warn(logger *slog.Logger, message string, err error) {
	say := logger.Warn
	if s.said.Swap(true) {
		say = logger.Info
	}
	attrs := []any{"err", err}
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		attrs = append(attrs, "hint", h.Hint())
	}
	say(message, attrs...)
}

// Client returns how we are registered with an issuer, false for not.
func (s *Store) Client(issuer string) (Client, bool) {
	k, err := s.read()
	if err != nil {
		return Client{}, false
	}
	for _, c := range k.Clients {
		if c.Issuer == issuer && (c.Expires.IsZero() || time.Now().Before(c.Expires)) {
			return c, true
		}
	}
	return Client{}, false
}

// PutClient keeps a registration.
func (s *Store) PutClient(ctx context.Context, c Client) error {
	return s.update(ctx, func(k *tokens) bool {
		k.Clients = append(slices.DeleteFunc(k.Clients, ofIssuer(c.Issuer)), c)
		return true
	})
}

// DropClient forgets one.
func (s *Store) DropClient(ctx context.Context, issuer string) error {
	return s.update(ctx, func(k *tokens) bool {
		before := len(k.Clients)
		k.Clients = slices.DeleteFunc(k.Clients, ofIssuer(issuer))
		return len(k.Clients) != before
	})
}

func ofIssuer(issuer string) func(Client) bool {
	return func(c Client) bool { return c.Issuer == issuer }
}
