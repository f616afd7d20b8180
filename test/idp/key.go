// Package idp is an identity provider: it signs tokens, publishes its keys, and answers
// who asks about tokens. It uses nothing of the product, and checks nothing: it signs
// whatever it is told to.
package idp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
)

// Key signs tokens.
type Key struct {
	ID, Algorithm string
	private       any
}

// NewKey returns a new key for an algorithm: ES256, ES384, ES512, EdDSA, RS256, PS256 or
// HS256.
func NewKey(id, algorithm string) *Key {
	k := &Key{ID: id, Algorithm: algorithm}
	var err error
	switch algorithm {
	case "ES256":
		k.private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ES384":
		k.private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "ES512":
		k.private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case "EdDSA":
		_, k.private, err = ed25519.GenerateKey(rand.Reader)
	case "RS256", "PS256":
		k.private, err = rsa.GenerateKey(rand.Reader, 2048)
	case "HS256":
		k.private = []byte(rand.Text() + rand.Text())
	default:
		panic("idp: no algorithm " + algorithm)
	}
	if err != nil {
		panic("idp: " + err.Error())
	}
	return k
}

// With returns the key with another algorithm in its tokens, whether it fits or not.
func (k *Key) With(algorithm string) *Key { return &Key{k.ID, algorithm, k.private} }

// Secret returns a key that signs with HS256 and a secret.
func Secret(id string, secret []byte) *Key { return &Key{id, "HS256", secret} }

// JWK returns the public key, for a set of keys.
func (k *Key) JWK() map[string]any {
	out := map[string]any{"kid": k.ID, "alg": k.Algorithm, "use": "sig"}
	switch private := k.private.(type) {
	case *ecdsa.PrivateKey:
		point, err := private.PublicKey.Bytes()
		if err != nil {
			panic("idp: " + err.Error())
		}
		half := (len(point) - 1) / 2
		out["kty"], out["crv"] = "EC", private.Curve.Params().Name
		out["x"], out["y"] = encode(point[1:1+half]), encode(point[1+half:])
	case ed25519.PrivateKey:
		out["kty"], out["crv"], out["x"] = "OKP", "Ed25519", encode(private[32:])
	case *rsa.PrivateKey:
		out["kty"], out["n"], out["e"] = "RSA", encode(private.N.Bytes()), encode(big.NewInt(int64(private.E)).Bytes())
	case []byte:
		out["kty"], out["k"] = "oct", encode(private)
	}
	return out
}

// Set returns a set of keys.
func Set(keys ...*Key) []byte {
	all := []any{}
	for _, k := range keys {
		all = append(all, k.JWK())
	}
	b, _ := json.Marshal(map[string]any{"keys": all}) // it always has a JSON form
	return b
}

// Claims are the members of a token.
type Claims = map[string]any

// Sign returns a token of claims. Members of header replace those that the key sets;
// nil removes one.
func (k *Key) Sign(claims Claims, header Claims) string {
	b, err := json.Marshal(claims)
	if err != nil {
		panic("idp: " + err.Error())
	}
	return k.SignText(string(b), header)
}

// SignText is the same for claims in JSON, or anything else.
func (k *Key) SignText(claims string, header Claims) string {
	h := Claims{"alg": k.Algorithm, "typ": "at+jwt", "kid": k.ID}
	maps.Copy(h, header)
	maps.DeleteFunc(h, func(_ string, v any) bool { return v == nil })
	b, err := json.Marshal(h)
	if err != nil {
		panic("idp: " + err.Error())
	}
	return k.SignBoth(string(b), claims)
}

// SignBoth is the same for a header in JSON, or anything else.
func (k *Key) SignBoth(header, claims string) string {
	text := encode([]byte(header)) + "." + encode([]byte(claims))
	return text + "." + encode(k.signature([]byte(text)))
}

func (k *Key) signature(text []byte) []byte {
	sum := sha256.Sum256(text)
	switch private := k.private.(type) {
	case *ecdsa.PrivateKey:
		digest := sum[:]
		switch private.Curve {
		case elliptic.P384():
			long := sha512.Sum384(text)
			digest = long[:]
		case elliptic.P521():
			long := sha512.Sum512(text)
			digest = long[:]
		}
		r, s, err := ecdsa.Sign(rand.Reader, private, digest)
		if err != nil {
			panic("idp: " + err.Error())
		}
		size := (private.Curve.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	case ed25519.PrivateKey:
		return ed25519.Sign(private, text)
	case *rsa.PrivateKey:
		if k.Algorithm == "PS256" {
			return must(rsa.SignPSS(rand.Reader, private, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}))
		}
		return must(rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, sum[:]))
	case []byte:
		mac := hmac.New(sha256.New, private)
		mac.Write(text)
		return mac.Sum(nil)
	}
	panic(fmt.Sprintf("idp: no signature with %T", k.private))
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic("idp: " + err.Error())
	}
	return b
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
