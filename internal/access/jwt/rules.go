package jwt

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/mcpctl/mcpctl/internal/access"
)

// Rules are what a token of an issuer must have, and what a principal is made of.
type Rules struct {
	// Kind is [access.Principal.Provider] of the principals.
	Kind string
	// Issuer is the claim iss, to the byte.
	Issuer string
	// Audiences are those of which the claim aud has one.
	Audiences []string
	// Scopes are those that a token must have.
	Scopes []string
	// Subject is the claim that the ID ends with; "" is sub.
	Subject string
	// Client is the claim with the program that asks; "" is client_id, else azp.
	Client string
	// Groups is the claim with the groups; "" for none. Of a principal they begin with
	// Name and a colon. Those in the token that do not begin with GroupPrefix do not
	// count.
	Groups, Name, GroupPrefix string
	// EmailDomains are those whose addresses the issuer vouches for, in lower case.
	EmailDomains []string
	// Tags are the claims that a principal keeps.
	Tags []string
}

const (
	// leeway is how much an issuer's clock may differ from ours.
	leeway = time.Minute
	// maxList bounds the groups and the scopes of a token, and the values of a tag.
	maxList = 1000
	// maxName bounds an ID and a name, in bytes.
	maxName = 255
	// lastYear bounds times: it is the last that has a text in RFC 3339.
	lastYear = 9999
)

// principal makes a principal of claims, and returns which certificate they are bound
// to.
func (r *Rules) principal(c object, now time.Time) (*access.Principal, *Binding, *access.Refusal) {
	if c["nonce"] != nil || c["at_hash"] != nil { // OpenID Connect Core 1.0, 2 and 3.1.3.6
		return nil, nil, errIDToken
	}
	if iss, ok := c.text("iss"); !ok || iss != r.Issuer {
		return nil, nil, errIssuer
	}
	audience, ok := c.texts("aud")
	if !ok || !slices.ContainsFunc(r.Audiences, func(a string) bool { return slices.Contains(audience, a) }) {
		return nil, nil, errAudience
	}
	p := &access.Principal{Provider: r.Kind}
	var refusal *access.Refusal
	if p.Expires, refusal = times(c, now); refusal != nil {
		return nil, nil, refusal
	}
	if refusal := r.identify(c, p); refusal != nil {
		return nil, nil, refusal
	}
	if p.Scopes, ok = scopes(c); !ok {
		return nil, nil, errScope
	}
	if p.Groups, refusal = r.groups(c); refusal != nil {
		return nil, nil, refusal
	}
	p.Tags = r.tags(c)
	bound, ok := boundTo(c)
	if !ok {
		return nil, nil, errBinding
	}
	return p, bound, nil
}

// Claims makes a principal of claims in JSON that their issuer vouches for, as it does
// for those of a token, and returns which certificate they are bound to.
func (r *Rules) Claims(claims []byte, now time.Time) (*access.Principal, *Binding, *access.Refusal) {
	var c object
	if json.Unmarshal(claims, &c) != nil {
		return nil, nil, access.ErrUnknownToken
	}
	p, bound, refusal := r.principal(c, now)
	if refusal == nil {
		refusal = r.missing(p)
	}
	if refusal != nil {
		return nil, nil, refusal
	}
	return p, bound, nil
}

// missing returns a refusal of a principal that lacks scopes, nil for none.
func (r *Rules) missing(p *access.Principal) *access.Refusal {
	for _, scope := range r.Scopes {
		if _, ok := slices.BinarySearch(p.Scopes, scope); !ok {
			return &access.Refusal{
				Status: 403, Code: "insufficient_scope", Description: "the token lacks a scope", Reason: "scope missing", Scopes: r.Scopes,
			}
		}
	}
	return nil
}

// times checks when a token is valid, and returns when it ends.
func times(c object, now time.Time) (expires time.Time, refusal *access.Refusal) {
	expires, ok := date(c, "exp")
	if !ok || expires.IsZero() {
		return expires, errTimes
	}
	if !now.Before(expires) {
		return expires, access.ErrExpired
	}
	for _, name := range []string{"nbf", "iat"} {
		switch from, ok := date(c, name); {
		case !ok:
			return expires, errTimes
		case from.After(now.Add(leeway)):
			return expires, errNotYet
		}
	}
	return expires, nil
}

// date returns a NumericDate (RFC 7519, 2), zero for one that is not there.
func date(c object, name string) (at time.Time, ok bool) {
	raw := c[name]
	if raw == nil {
		return at, true
	}
	var seconds float64
	if raw.Kind() != '0' || json.Unmarshal(raw, &seconds) != nil || seconds < 0 || seconds != seconds {
		return at, false
	}
	whole, part := math.Modf(min(seconds, math.MaxUint32<<8))
	at = time.Unix(int64(whole), int64(part*float64(time.Second)))
	return at, at.UTC().Year() <= lastYear
}

// identify sets the names of a principal.
func (r *Rules) identify(c object, p *access.Principal) *access.Refusal {
	p.Email = r.email(c)
	claim := or(r.Subject, "sub")
	subject, _ := c.text(claim)
	if claim == "email" { // which counts only where the issuer vouches for it
		subject = p.Email
	}
	if !isName(subject) {
		return errSubject
	}
	p.ID = r.Issuer + "|" + subject
	for _, name := range []string{p.Email, c.name("preferred_username"), c.name("name"), subject} {
		if p.Name == "" {
			p.Name = name
		}
	}
	if r.Client != "" {
		p.Client = c.name(r.Client)
	} else {
		p.Client = or(c.name("client_id"), c.name("azp"))
	}
	return nil
}

// name returns a member that is a name, "" for none.
func (o object) name(member string) string {
	if s, _ := o.text(member); isName(s) {
		return s
	}
	return ""
}

// isName reports whether a text may name somebody: it is short, and prints as it is.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// email returns the address that the issuer vouches for, "" for none.
func (r *Rules) email(c object) string {
	address := strings.ToLower(c.name("email"))
	at := strings.LastIndexByte(address, '@')
	if at < 1 || c["email_verified"].Kind() != 't' || !slices.Contains(r.EmailDomains, address[at+1:]) {
		return ""
	}
	return address
}

// scopes returns the claim scope, or scp where that is not there.
func scopes(c object) (all []string, ok bool) {
	switch {
	case c["scope"] != nil:
		s, ok := c.text("scope")
		return list(strings.Fields(s), ok)
	case c["scp"] != nil:
		all, ok := c.texts("scp")
		if len(all) == 1 {
			all = strings.Fields(all[0])
		}
		return list(all, ok)
	}
	return nil, true
}

// list returns a list sorted; false for one that is too long or has texts that do not
// print as they are.
func list(all []string, ok bool) ([]string, bool) {
	if !ok || len(all) > maxList || slices.ContainsFunc(all, func(s string) bool { return !isName(s) }) {
		return nil, false
	}
	return slices.Compact(slices.Sorted(slices.Values(all))), true
}

// groups returns the groups of claims.
func (r *Rules) groups(c object) ([]string, *access.Refusal) {
	if r.Groups == "" {
		return nil, nil
	}
	if c[r.Groups] == nil {
		if r.leavesOut(c) {
			return nil, errOverage
		}
		return nil, nil
	}
	all, ok := list(c.texts(r.Groups))
	if !ok {
		return nil, errGroups
	}
	var own []string
	for _, group := range all {
		if strings.HasPrefix(group, r.GroupPrefix) {
			own = append(own, r.Name+":"+group)
		}
	}
	return own, nil
}

// leavesOut reports whether the issuer has left the groups out because they are too
// many: it names where they can be asked for (OpenID Connect Core 1.0, 5.6.2), or says
// that there are some.
func (r *Rules) leavesOut(c object) bool {
	var elsewhere object
	_ = json.Unmarshal(c["_claim_names"], &elsewhere) // nil for none
	return elsewhere[r.Groups] != nil || c["hasgroups"].Kind() == 't'
}

// tags returns the claims that the settings name, nil for none. Of a claim that is
// neither plain nor a list of texts there is none.
func (r *Rules) tags(c object) (tags map[string][]string) {
	for _, name := range r.Tags {
		values, ok := c.texts(name)
		switch kind := c[name].Kind(); {
		case kind == '0', kind == 't', kind == 'f':
			values = []string{string(c[name])}
		case !ok || len(values) > maxList:
			continue
		}
		if tags == nil {
			tags = map[string][]string{}
		}
		tags[name] = values
	}
	return tags
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
