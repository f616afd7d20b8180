package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/url"
	"time"
)

// newProofKey returns a key that tokens are bound to, as it is kept.
func newProofKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})), nil
}

// dpopProof returns what shows that we have the key, for one request. access is the token
// that goes with it, nonce what the receiver wants in it; "" is none (RFC 9449, 4.2).
func dpopProof(key, method, address, access, nonce string) (string, error) {
	signer, err := readKey(key)
	if err != nil {
		return "", err
	}
	private, ok := signer.(*ecdsa.PrivateKey)
	if !ok {
		return "", errors.New("the key of the token is of another kind")
	}
	public, err := private.PublicKey.Bytes() // 0x04, x, y
	if err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.RawQuery, u.Fragment, u.ForceQuery, u.User = "", "", false, nil
	enc := base64.RawURLEncoding
	claims := map[string]any{"jti": rand.Text(), "htm": method, "htu": u.String(), "iat": time.Now().Unix()}
	if access != "" {
		sum := sha256.Sum256([]byte(access))
		claims["ath"] = enc.EncodeToString(sum[:])
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	return signedJWT(private, map[string]any{
		"typ": "dpop+jwt", "alg": "ES256",
		"jwk": map[string]string{"kty": "EC", "crv": "P-256", "x": enc.EncodeToString(public[1:33]), "y": enc.EncodeToString(public[33:])},
	}, claims)
}
