package access

import "crypto/x509"

// Credential is what of a request says who asks. It is not changed, and not kept beyond
// the request: it is secret.
type Credential struct {
	// Bearer is the token of the Authorization header, "" for none.
	Bearer string
	// Certificate is the client's, which TLS has verified; nil for none.
	Certificate *x509.Certificate
	// Chains are those by which TLS has verified it. Each begins with Certificate and
	// ends with an authority.
	Chains [][]*x509.Certificate
	// Peer is who is at the other end of the connection: HOST:PORT, or "@" or a path
	// for a Unix socket.
	Peer string
	// Header has the lines of the request, by their canonical names.
	Header map[string][]string
}
