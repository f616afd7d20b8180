// Package link is what serve, its pages and the accounts that people link with servers
// share: the sealed text that leads a person to the page of a server, the addresses of
// these pages, and what they ask of a [Linker]. It does no I/O.
package link

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/seal"
)

// Link leads one principal to the page on which they link an account with a server. It
// gives no rights: who follows it must log in as that principal.
type Link struct {
	// Server is the configured name.
	Server string `json:"v"`
	// Issuer is the authorization server's, "" where it is not known yet.
	Issuer string `json:"i,omitempty"`
	// Principal is the ID of whom it is for; see access.Principal.
	Principal string `json:"p"`
	// Expires is when the link ends.
	Expires time.Time `json:"-"`
}

const (
	// TTL is how long a link may be followed after it was given out.
	TTL = seal.StateTTL
	// purpose keeps links apart from what else is sealed.
	purpose = "connect link"
	// maxSealed bounds a sealed link, in bytes.
	maxSealed = 4096
)

// ErrInvalid is that a text is no link that was given out here, or one that has ended.
var ErrInvalid = errors.New("this link is not valid, or not any more")

// Seal returns a link as a text that can be part of a query. It can be opened until
// Expires, or for TTL if that is zero.
func (l Link) Seal(ring *seal.Keyring) string {
	if l.Expires.IsZero() {
		l.Expires = time.Now().Add(TTL)
	}
	plain, err := json.Marshal(struct {
		Link
		Until int64 `json:"t"` // Unix milliseconds
	}{l, l.Expires.UnixMilli()})
	if err != nil {
		panic("link: texts cannot be encoded: " + err.Error())
	}
	return ring.Seal(purpose, plain, time.Until(l.Expires))
}

// Open returns a link that was sealed. Its error is [ErrInvalid].
func Open(ring *seal.Keyring, sealed string) (Link, error) {
	if len(sealed) > maxSealed {
		return Link{}, ErrInvalid
	}
	plain, err := ring.Open(purpose, sealed)
	if err != nil {
		return Link{}, ErrInvalid
	}
	var l struct {
		Link
		Until int64 `json:"t"`
	}
	if json.Unmarshal(plain, &l) != nil {
		return Link{}, ErrInvalid
	}
	l.Expires = time.UnixMilli(l.Until)
	if !time.Now().Before(l.Expires) {
		return Link{}, ErrInvalid
	}
	return l.Link, nil
}

// Path is what the paths of the pages begin with.
const Path = "/connect"

// Root returns the address below which the pages are: that of serve's endpoint without
// its last "/mcp", and without a slash at the end.
func Root(endpoint *url.URL) string {
	u := url.URL{Scheme: endpoint.Scheme, Host: endpoint.Host}
	return u.String() + strings.TrimSuffix(strings.TrimSuffix(endpoint.EscapedPath(), "/"), "/mcp")
}

// Page returns the address of a server's page. sealed is a link of [Link.Seal], "" for
// none: then the page is for whoever logs in.
func Page(endpoint *url.URL, server, sealed string) string {
	page := Root(endpoint) + Path + "/" + url.PathEscape(server)
	if sealed != "" {
		page += "?s=" + sealed
	}
	return page
}

// Callback returns the address to which a server's authorization server sends the
// browser back. Each server has one of its own, so that an answer of one authorization
// server cannot be taken for another's (RFC 9700, 2.1).
func Callback(endpoint *url.URL, server string) string {
	return Root(endpoint) + Path + "/" + url.PathEscape(server) + "/callback"
}

// Linker links accounts of principals with servers. principal is the ID of one, see
// access.Principal; server is a configured name. Its methods may be called concurrently.
type Linker interface {
	// Describe returns what a person is told of a server before they link an account
	// with it. It may ask the server who issues its tokens. The error is [ErrUnknown] for
	// a server that nobody links an account with.
	Describe(ctx context.Context, server string) (Description, error)
	// Start begins to link an account. The browser is sent to authorizeURL, and comes
	// back to redirectURI with state, which belongs into the browser's cookie: another
	// browser must not come to Finish with it.
	Start(ctx context.Context, principal, server, redirectURI string) (authorizeURL, state string, err error)
	// Finish takes the query that the browser has come back with. Its state is that of
	// a Begin of the same principal and server, within [TTL], and is used once. The error is
	// [ErrState] for another.
	Finish(ctx context.Context, principal, server string, query url.Values) error
	// Linked reports whether a principal has linked an account with a server.
	Linked(principal, server string) bool
	// Linkable returns the names of the servers that accounts are linked with, sorted.
	Linkable() []string
	// Unlink forgets an account, and has its issuer end the tokens where it offers that.
	// It does nothing where there is none.
	Unlink(ctx context.Context, principal, server string) error
}

// Description is what a person is told of a server.
type Description struct {
	// Server is the host that the account is used at, Issuer the authorization server's
	// URL. Both are the server's words, or those of the configuration: they have to be
	// escaped in a page.
	Server, Issuer string
	// Scopes are those that are asked for, nil where the issuer decides.
	Scopes []string
}

var (
	// ErrUnknown is a server that nobody links an account with.
	ErrUnknown = errors.New("no account is linked with this server")
	// ErrState is an answer of an authorization server that nobody waits for.
	ErrState = errors.New("this answer belongs to no link that was begun here, or is too late")
)
