package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
)

// Token is what is kept of one server's authorization. In memory and in the file it is
// plain text: its String has none of it.
type Token struct {
	Server    string    `json:"server"` // see Canonical
	Issuer    string    `json:"issuer,omitempty"`
	Principal string    `json:"principal,omitempty"` // "" is this machine's user
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
}

// String names the token and has nothing of it.
func (t Token) String() string { return "token for " + t.Server }

// GoString is String: %#v must not show it either.
func (t Token) GoString() string { return t.String() }

// same reports whether another token is for the same server, issuer and person.
func (t Token) same(o Token) bool {
	return t.Principal == o.Principal && t.Server == o.Server && t.Issuer == o.Issuer
}

// kept is the token file.
type kept struct {
	Version int      `json:"version"`
	Tokens  []Token  `json:"tokens"`
	Clients []Client `json:"clients,omitempty"`
}

// fileVersion is that of the token file. A newer one is not overwritten.
const fileVersion = 1

// maxFile bounds the token file, in bytes.
const maxFile = 4 << 20

// Store is the token file. Its methods may be called concurrently, by any number of
// processes.
type Store struct {
	// Path is the file's; its folder is made when something is first kept.
	Path string
}

// lockWait bounds how long a process waits for another's writing or refreshing.
const lockWait = 30 * time.Second

// Tokens returns what is kept for a server, newest first; server "" is for all.
func (s *Store) Tokens(server string) ([]Token, error) {
	k, err := s.read()
	if err != nil {
		return nil, err
	}
	var out []Token
	for _, t := range k.Tokens {
		if server == "" || t.Server == server {
			out = append(out, t)
		}
	}
	return out, nil
}

func (s *Store) read() (*kept, error) {
	raw, err := atomicfile.Read(s.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &kept{Version: fileVersion}, nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return nil, fmt.Errorf("%s is no token file: %w", s.Path, errBroken)
	}
	if k.Version > fileVersion {
		return nil, fmt.Errorf("%s is of a newer mcpctl", s.Path)
	}
	return &k, nil
}

// errBroken leaves out what encoding/json quotes: it may be a token.
var errBroken = errors.New("it is not valid JSON; move it away to log in anew")

// update changes the file under a lock that all processes take. Where change reports
// false nothing is written.
func (s *Store) update(ctx context.Context, change func(*kept) (bool, error)) error {
	unlock, err := s.lock(ctx, "write")
	if err != nil {
		return err
	}
	defer unlock()
	atomicfile.Sweep(s.Path) // what a killed write has left has tokens in it
	k, err := s.read()
	if err != nil {
		return err
	}
	changed, err := change(k)
	if err != nil || !changed {
		return err
	}
	raw, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(s.Path, append(raw, '\n'), 0o600)
}

// lock takes a lock beside the file.
func (s *Store) lock(ctx context.Context, what string) (unlock func(), err error) {
	unlock, err = atomicfile.Lock(ctx, s.Path+"."+what+".lock", lockWait)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("another process holds it")
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.Path, err)
	}
	return unlock, nil
}

// put keeps a token in the place of the one before it.
func (s *Store) put(ctx context.Context, t Token) error {
	return s.update(ctx, func(k *kept) (bool, error) {
		k.Tokens = append([]Token{t}, slices.DeleteFunc(k.Tokens, t.same)...)
		return true, nil
	})
}

// drop forgets one token.
func (s *Store) drop(ctx context.Context, t Token) error {
	return s.update(ctx, func(k *kept) (bool, error) {
		before := len(k.Tokens)
		k.Tokens = slices.DeleteFunc(k.Tokens, t.same)
		return len(k.Tokens) != before, nil
	})
}

// Remove drops what is kept for a server, and returns it.
func (s *Store) Remove(ctx context.Context, server string) (gone []Token, err error) {
	err = s.update(ctx, func(k *kept) (bool, error) {
		var left []Token
		for _, t := range k.Tokens {
			if t.Server == server {
				gone = append(gone, t)
			} else {
				left = append(left, t)
			}
		}
		k.Tokens = left
		return len(gone) > 0, nil
	})
	return gone, err
}

// client returns how we are registered with an issuer, false for not.
func (s *Store) client(issuer string) (Client, bool) {
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

// putClient keeps a registration.
func (s *Store) putClient(ctx context.Context, c Client) error {
	return s.update(ctx, func(k *kept) (bool, error) {
		k.Clients = append(slices.DeleteFunc(k.Clients, ofIssuer(c.Issuer)), c)
		return true, nil
	})
}

// dropClient forgets one.
func (s *Store) dropClient(ctx context.Context, issuer string) error {
	return s.update(ctx, func(k *kept) (bool, error) {
		before := len(k.Clients)
		k.Clients = slices.DeleteFunc(k.Clients, ofIssuer(issuer))
		return len(k.Clients) != before, nil
	})
}

func ofIssuer(issuer string) func(Client) bool {
	return func(c Client) bool { return c.Issuer == issuer }
}
