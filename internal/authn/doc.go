// Package authn finds out who sends a request: by a static token, an access token that its
// issuer is asked about, a client certificate, or what a trusted proxy says. An
// [Authenticator] has a [Provider] for each, and asks the one that a credential is for.
// An [OpenID] logs people in on a page. Package jwt verifies signed access tokens.
//
// A provider never falls back to another: a credential that it refuses is refused.
package authn
