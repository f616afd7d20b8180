package jwt

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Keys has the keys of an issuer. Its methods may be called concurrently.
type Keys interface {
	// Set returns the keys that count now, nil where they are not known. It does not
	// wait.
	Set() *KeySet
	// Renew returns them after they have been asked for again, if it is time for that.
	// It waits until then, at most until ctx ends. The error is that they could not be
	// had; the keys that are returned with it, if any, still count.
	Renew(ctx context.Context) (*KeySet, error)
}

const (
	// maxKeys bounds a set of keys.
	maxKeys = 100
	// minRSA is how many bits the modulus of a key has at least: below it is weak.
	// Above 4096 go-jose refuses it, because it costs too much.
	minRSA = 2048
)

// KeySet are the public keys that an issuer signs with. It is immutable.
type KeySet struct{ keys []key }

type key struct {
	id         string // "" for none
	thumbprint string // of RFC 7638
	public     any
	algorithms []jose.SignatureAlgorithm
}

// algorithms are those that are accepted.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.ES256, jose.ES384, jose.EdDSA, jose.PS256, jose.RS256}
}

// ParseKeys reads a JSON Web Key Set (RFC 7517, 5). Keys that no accepted algorithm can
// use are left out; skipped counts them. Those that are private or symmetric are among
// them.
func ParseKeys(doc []byte) (set *KeySet, skipped int, err error) {
	var d struct {
		Keys []jsontext.Value `json:"keys"`
	}
	switch err := json.Unmarshal(doc, &d); {
	case err != nil:
		return nil, 0, errors.New("it is not a JSON Web Key Set")
	case d.Keys == nil:
		return nil, 0, errors.New("it is not a JSON Web Key Set: it has no list of keys")
	case len(d.Keys) > maxKeys:
		return nil, 0, errors.New("it has too many keys")
	}
	set = &KeySet{}
	for _, raw := range d.Keys {
		if k, ok := parseKey(raw); ok {
			set.keys = append(set.keys, k)
		} else {
			skipped++
		}
	}
	return set, skipped, nil
}

// parseKey reads a key of a set, false for one that signs no tokens.
func parseKey(raw jsontext.Value) (k key, ok bool) {
	var members object
	if json.Unmarshal(raw, &members) != nil || members["d"] != nil || members["k"] != nil {
		return k, false
	}
	if use, given := members.text("use"); given && use != "sig" {
		return k, false
	}
	if operations, given := members.texts("key_ops"); given && !slices.Contains(operations, "verify") {
		return k, false
	}
	k.id, _ = members.text("kid")
	// Certificates of the key do not count, and need not be right.
	bare := object{}
	for _, name := range []string{"kty", "crv", "x", "y", "n", "e"} {
		if members[name] != nil {
			bare[name] = members[name]
		}
	}
	plain, err := json.Marshal(bare)
	var parsed jose.JSONWebKey
	if err != nil || parsed.UnmarshalJSON(plain) != nil {
		return k, false
	}
	sum, err := parsed.Thumbprint(crypto.SHA256)
	if err != nil {
		return k, false
	}
	k.public, k.thumbprint, k.algorithms = parsed.Key, base64.RawURLEncoding.EncodeToString(sum), fitting(parsed.Key)
	if only, given := members.text("alg"); given {
		k.algorithms = slices.DeleteFunc(k.algorithms, func(a jose.SignatureAlgorithm) bool { return string(a) != only })
	}
	return k, len(k.algorithms) > 0
}

// fitting returns the algorithms that a key is used with.
func fitting(public any) []jose.SignatureAlgorithm {
	switch k := public.(type) {
	case ed25519.PublicKey:
		return []jose.SignatureAlgorithm{jose.EdDSA}
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256():
			return []jose.SignatureAlgorithm{jose.ES256}
		case elliptic.P384():
			return []jose.SignatureAlgorithm{jose.ES384}
		}
	case *rsa.PublicKey:
		if k.N.BitLen() >= minRSA {
			return []jose.SignatureAlgorithm{jose.PS256, jose.RS256}
		}
	}
	return nil
}

// Len returns how many keys there are.
func (s *KeySet) Len() int { return len(s.keys) }

// Equal reports whether two sets have the same keys for the same.
func (s *KeySet) Equal(other *KeySet) bool {
	return slices.EqualFunc(s.keys, other.keys, func(a, b key) bool {
		return a.id == b.id && a.thumbprint == b.thumbprint && slices.Equal(a.algorithms, b.algorithms)
	})
}

// Has reports whether a key is among them, by its thumbprint.
func (s *KeySet) Has(thumbprint string) bool {
	return slices.ContainsFunc(s.keys, func(k key) bool { return k.thumbprint == thumbprint })
}

// find returns the keys that a token with a header may be signed with. Without a key id
// it is the only one that there is for the algorithm.
func (s *KeySet) find(h header) (found []key) {
	for _, k := range s.keys {
		if (h.Key == "" || k.id == h.Key) && slices.Contains(k.algorithms, jose.SignatureAlgorithm(h.Algorithm)) {
			found = append(found, k)
		}
	}
	if h.Key == "" && len(found) > 1 {
		return nil
	}
	return found
}
