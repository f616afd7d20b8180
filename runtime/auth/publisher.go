package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// MetadataClient reads what an authorization server publishes for those who accept its
// tokens. What the server names may be no further inside than the server itself. It is
// safe for concurrent use.
type MetadataClient struct {
	issuer string
	base   *url.URL
	guard  atomic.Pointer[guard] // nil: not looked up yet
}

// NewMetadataClient returns what reads from an issuer: an https URL, or http on this machine.
func NewMetadataClient(issuer string) (*MetadataClient, error) {
	base, err := safeURL(issuer)
	if err != nil {
		return nil, err
	}
	return &MetadataClient{issuer: issuer, base: base}, nil
}

// Published is what an authorization server says of itself (RFC 8414), "" for what it
// does not say.
type Published struct {
	// Keys is where its keys are.
	Keys string `json:"jwks_uri"`
	// Introspection is where it is asked about tokens.
	Introspection string `json:"introspection_endpoint"`
}

// Metadata reads what the issuer says of itself.
func (p *MetadataClient) Metadata(ctx context.Context) (said Published, err error) {
	raw, err := p.reader(ctx).metadataOf(ctx, p.issuer)
	if err == nil {
		err = json.Unmarshal(raw, &said)
	}
	if err != nil {
		p.guard.Store(nil) // its name may lead elsewhere by the next time
	}
	return said, err
}

// Get reads a document that the issuer or the settings name.
func (p *MetadataClient) Get(ctx context.Context, address string) (http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	status, header, body, err := p.reader(ctx).do(req)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: HTTP %d", clip(address), status)
	}
	if err != nil {
		p.guard.Store(nil)
		return nil, nil, err
	}
	return header, body, nil
}

// Ask posts a form as a client, and returns the answer's status and body.
func (p *MetadataClient) Ask(ctx context.Context, address, client string, password secret.Text, form url.Values) (int, []byte, error) {
	status, _, body, err := p.reader(ctx).post(ctx, grant{endpoint: address, form: form, client: tokenstore.Client{ID: client, Secret: password.Reveal()}})
	if err != nil {
		p.guard.Store(nil)
	}
	return status, body, err
}

func (p *MetadataClient) reader(ctx context.Context) *guard {
	if g := p.guard.Load(); g != nil {
		return g
	}
	g := newGuard(ctx, p.base)
	p.guard.Store(g)
	return g
}
