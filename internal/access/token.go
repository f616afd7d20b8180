package access

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"time"
)

// A static token is "mcpctl_", 8 characters of an id, "_", 43 of a secret and 6 of a
// checksum, all of base 62. The checksum is the CRC-32 (IEEE) of all before it, so that
// a scanner of texts can be sure of what it has found. The secret has 256 bits: a plain
// hash protects it.
const (
	tokenPrefix  = "mcpctl_"
	idLength     = 8
	secretLength = 43
	sumLength    = 6
	tokenLength  = len(tokenPrefix) + idLength + 1 + secretLength + sumLength
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// ErrNotToken is that a text is not a static token.
var ErrNotToken = errors.New("it does not have the form of a token of mcpctl access token add")

// Token is a static token as it is kept: without its secret.
type Token struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// SHA256 is of the whole token, in hex.
	SHA256 string   `json:"sha256"`
	Groups []string `json:"groups,omitempty"`
	// Created and Expires are in UTC, whole seconds; a zero Expires is never.
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

// NewToken returns a new token of a name, and its text, which is kept nowhere. A zero
// expires is never.
func NewToken(name string, groups []string, now, expires time.Time) (t Token, text string) {
	id := random(idLength)
	b := tokenPrefix + id + "_" + random(secretLength)
	text = b + checksum(b)
	sum := sha256.Sum256([]byte(text))
	groups = slices.Compact(slices.Sorted(slices.Values(groups)))
	return Token{
		ID: id, Name: name, SHA256: hex.EncodeToString(sum[:]), Groups: groups,
		Created: now.UTC().Truncate(time.Second), Expires: expires.UTC().Truncate(time.Second),
	}, text
}

// random returns so many random characters of base 62.
func random(n int) string {
	out := make([]byte, 0, n)
	var b [64]byte
	for len(out) < n {
		_, _ = rand.Read(b[:]) // it never fails
		for _, c := range b {
			const most = 256 - 256%len(base62) // each character is as likely as the others
			if int(c) < most && len(out) < n {
				out = append(out, base62[int(c)%len(base62)])
			}
		}
	}
	return string(out)
}

// checksum returns the checksum of a token's other characters. It allocates nothing if
// it is only compared, unlike crc32.ChecksumIEEE, through which its argument escapes.
func checksum(text string) string {
	sum := ^uint32(0)
	for i := range len(text) {
		sum = crc32.IEEETable[sum&0xff^uint32(text[i])] ^ sum>>8
	}
	sum = ^sum
	var out [sumLength]byte
	for i := sumLength - 1; i >= 0; i-- {
		out[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(out[:])
}

// IsToken reports whether a text begins as a static token does, and is for no other
// kind of credential.
func IsToken(text string) bool { return strings.HasPrefix(text, tokenPrefix) }

// idOf returns the id in a token, false where it has not the form of one.
func idOf(text string) (id string, ok bool) {
	if len(text) != tokenLength || !IsToken(text) || text[len(tokenPrefix)+idLength] != '_' {
		return "", false
	}
	for i := len(tokenPrefix); i < len(text); i++ {
		if i != len(tokenPrefix)+idLength && !isBase62(text[i]) {
			return "", false
		}
	}
	const body = tokenLength - sumLength
	if checksum(text[:body]) != text[body:] {
		return "", false
	}
	return text[len(tokenPrefix) : len(tokenPrefix)+idLength], true
}

// Tokens are static tokens to compare with. They are immutable and may be used
// concurrently.
type Tokens struct {
	byID map[string]known
	// bySum has those whose ids are not known.
	bySum map[[sha256.Size]byte]*Principal
}

type known struct {
	sum       [sha256.Size]byte
	principal *Principal
}

// NewTokens returns tokens to compare with. Their ids may be missing. A token whose hash
// is none is an error.
func NewTokens(all []Token) (*Tokens, error) {
	t := &Tokens{byID: make(map[string]known, len(all)), bySum: map[[sha256.Size]byte]*Principal{}}
	for _, one := range all {
		sum, err := hex.DecodeString(one.SHA256)
		if err != nil || len(sum) != sha256.Size {
			return nil, errors.New("token " + cmp.Or(one.ID, one.Name) + ": sha256 is not the hash of a token")
		}
		k := known{principal: &Principal{ID: "token|" + one.Name, Name: one.Name, Provider: "token", Groups: one.Groups, Expires: one.Expires, Proof: one.SHA256}}
		copy(k.sum[:], sum)
		if one.ID == "" {
			t.bySum[k.sum] = k.principal
			continue
		}
		t.byID[one.ID] = k
	}
	return t, nil
}

// Principal returns whose token a text is, or a [*Refusal]. It allocates nothing for a
// known one.
func (t *Tokens) Principal(text string, now time.Time) (*Principal, *Refusal) {
	id, ok := idOf(text)
	if !ok {
		return nil, ErrUnknownToken
	}
	k, ok := t.byID[id]
	var all [tokenLength]byte // on the stack
	copy(all[:], text)
	sum := sha256.Sum256(all[:])
	principal := k.principal
	if !ok {
		principal = t.bySum[sum]
	} else if subtle.ConstantTimeCompare(sum[:], k.sum[:]) != 1 {
		principal = nil
	}
	switch {
	case principal == nil:
		return nil, ErrUnknownToken
	case principal.Expired(now):
		return nil, ErrExpired
	}
	return principal, nil
}

// Has reports whether the token that a principal was made of is still accepted.
func (t *Tokens) Has(p *Principal, now time.Time) bool {
	for k := range maps.Values(t.byID) {
		if k.principal.ID == p.ID && k.principal.Proof == p.Proof && !k.principal.Expired(now) {
			return true
		}
	}
	for own := range maps.Values(t.bySum) {
		if own.ID == p.ID && !own.Expired(now) {
			return true
		}
	}
	return false
}

func isBase62(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// ValidTokenName reports whether a token may have a name: letters, digits and . _ @ + -,
// at most 64, a letter or digit first.
func ValidTokenName(name string) bool { return named(name, "._@+-") }

// ValidGroup reports whether a token may have a group: letters, digits and . _ : / -, at
// most 64, a letter or digit first.
func ValidGroup(name string) bool { return named(name, "._:/-") }

func named(name, signs string) bool {
	const most = 64
	return name != "" && len(name) <= most && isBase62(name[0]) && strings.Trim(name, base62+signs) == ""
}
