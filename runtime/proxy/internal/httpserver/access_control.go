package httpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
)

// AccessControl is what stands before a handler. The zero value lets in what comes from this
// machine.
type AccessControl struct {
	// AnyHost lets any Host and Origin in.
	AnyHost bool
	// Hosts are HOST or HOST:PORT that both may name beside this machine's loopback,
	// and with IPHosts any IP address.
	Hosts   []string
	IPHosts bool
	// Origins are SCHEME://HOST[:PORT] that Origin may name besides.
	Origins []string
	// Authenticator says who asks; nil: nobody is asked for a credential.
	Authenticator Authenticator
	// Principal is who asks then, nil for one without a name.
	Principal *access.Principal
	// Refused is called with each request that is not let in, and why; nil for nobody.
	Refused func(r *http.Request, refusal *access.Refusal)
}

// Authenticator says who asks. Its methods may be called concurrently.
type Authenticator interface {
	// Who returns whose a credential is, or why it is not accepted. It may wait for
	// others until ctx ends.
	Who(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal)
	// Challenge returns what WWW-Authenticate says after the scheme about a refusal,
	// besides its error: realm="mcpctl", or where a client gets a token.
	Challenge(refusal *access.Refusal) string
}

// Admit refuses a request that a web page may have sent, unless AnyHost is set, and one
// without a credential where one is required. It reports whether the request may go on,
// and who asks: w.Principal where nobody is asked for a credential. Of a refused request the
// body is still to be read.
func (w *AccessControl) Admit(out http.ResponseWriter, r *http.Request) (*access.Principal, bool) {
	if !w.AnyHost {
		if err := w.checkOrigin(r); err != nil {
			w.tell(r, &access.Refusal{Status: http.StatusForbidden, Description: err.Error(), Reason: "origin"})
			http.Error(out, err.Error(), http.StatusForbidden)
			return nil, false
		}
	}
	if w.Authenticator == nil {
		return w.Principal, true
	}
	p, refusal := w.principal(r)
	if refusal != nil {
		w.tell(r, refusal)
		w.refuse(out, refusal)
		return nil, false
	}
	return p, true
}

// tell calls Refused.
func (w *AccessControl) tell(r *http.Request, refusal *access.Refusal) {
	if w.Refused != nil {
		w.Refused(r, refusal)
	}
}

// principal returns whose the credential of a request is, or why it is not accepted.
func (w *AccessControl) principal(r *http.Request) (*access.Principal, *access.Refusal) {
	if strings.Contains(r.URL.RawQuery, "access_token") {
		if q, err := url.ParseQuery(r.URL.RawQuery); err != nil || q.Has("access_token") {
			return nil, access.ErrInURL
		}
	}
	c := authn.CredentialOf(r)
	var refusal *access.Refusal
	if c.Bearer, refusal = bearer(r.Header["Authorization"]); refusal != nil {
		return nil, refusal
	}
	return w.Authenticator.Who(r.Context(), c)
}

// bearer returns the token in the lines of Authorization, "" for none.
func bearer(values []string) (string, *access.Refusal) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", access.ErrMalformed
	}
	name, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(name, "Bearer") {
		return "", nil
	}
	if token = strings.TrimLeft(token, " "); token == "" || contains(token, ' ') || contains(token, ',') || contains(token, '\t') {
		return "", access.ErrMalformed
	}
	return token, nil
}

// contains costs a tenth of what strings.ContainsAny does for a token of 400 bytes.
func contains(s string, c byte) bool { return strings.IndexByte(s, c) >= 0 }

// Lacking says in the head of a response which scopes the request would need, those that
// its credential has included (RFC 6750, 3.1), and returns the response's status. Where
// nobody is asked for a credential it says nothing.
func (w *AccessControl) Lacking(head http.Header, scopes []string) (status int) {
	if w.Authenticator == nil {
		return http.StatusOK
	}
	refusal := &access.Refusal{Status: http.StatusForbidden, Code: "insufficient_scope", Description: "the credential lacks scopes that this needs", Scopes: scopes}
	w.challenge(head, refusal)
	head.Set("Cache-Control", "no-store")
	return refusal.Status
}

// challenge says how the client's next try can be let in.
func (w *AccessControl) challenge(head http.Header, refusal *access.Refusal) {
	challenge := "Bearer " + w.Authenticator.Challenge(refusal)
	if refusal.Code != "" {
		challenge += `, error="` + refusal.Code + `", error_description="` + refusal.Description + `"`
	}
	head.Set("WWW-Authenticate", challenge)
}

// refuse writes a refusal: a challenge for the client's next try (RFC 6750,
// 3), but none where a try cannot help now.
func (w *AccessControl) refuse(out http.ResponseWriter, refusal *access.Refusal) {
	head := out.Header()
	if refusal.Status == http.StatusServiceUnavailable {
		head.Set("Retry-After", "5")
	} else {
		w.challenge(head, refusal)
	}
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Type", "application/json")
	body, _ := json.Marshal(struct { // it always has a JSON form
		Error       string `json:"error,omitempty"`
		Description string `json:"error_description"`
	}{refusal.Code, refusal.Description})
	out.WriteHeader(refusal.Status)
	_, _ = out.Write(append(body, '\n')) // the client may be gone
}
