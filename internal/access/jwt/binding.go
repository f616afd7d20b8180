package jwt

import (
	"crypto/sha256"
	"crypto/x509"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"github.com/mcpctl/mcpctl/internal/access"
)

// Binding is the certificate that a token is bound to (RFC 8705, 3.1). A nil one is
// none. It is safe for concurrent use.
type Binding struct {
	sum [sha256.Size]byte
	// last is the certificate that was right last: hashing it costs more than all else.
	last atomic.Pointer[x509.Certificate]
}

// Check refuses a token to who does not have the certificate; nil is none.
func (b *Binding) Check(cert *x509.Certificate) *access.Refusal {
	switch {
	case b == nil || cert != nil && b.last.Load() == cert:
		return nil
	case cert == nil || sha256.Sum256(cert.Raw) != b.sum:
		return errBinding
	}
	b.last.Store(cert)
	return nil
}

// boundTo returns which certificate a token is bound to; false for a token that is bound
// in a way that nobody here checks.
func boundTo(c object) (*Binding, bool) {
	if c["cnf"] == nil {
		return nil, true
	}
	var cnf object
	if json.Unmarshal(c["cnf"], &cnf) != nil || len(cnf) != 1 {
		return nil, false
	}
	text, _ := cnf.text("x5t#S256")
	sum, ok := fromBase64URL(text)
	if !ok || len(sum) != sha256.Size {
		return nil, false
	}
	return &Binding{sum: [sha256.Size]byte(sum)}, true
}
