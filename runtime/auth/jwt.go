package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// maxKey bounds the file of a key, in bytes.
const maxKey = 1 << 20

// readKey reads a private key: PEM text, or the path of a file with it.
func readKey(text string) (crypto.Signer, error) {
	raw := []byte(text)
	if !strings.Contains(text, "-----BEGIN") {
		var err error
		if raw, err = atomicfile.Read(text, maxKey); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil, errors.New("auth: clientKey is neither PEM text nor the path of a file")
			}
			return nil, fmt.Errorf("auth: clientKey: %w", err)
		}
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, errors.New("auth: clientKey has no PEM block")
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if s, ok := key.(crypto.Signer); ok {
			return s, nil
		}
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	return nil, errors.New("auth: clientKey is no private key of a known kind (PKCS #8, EC, RSA)")
}

// signingAlgorithm returns the name of a key's signature, checked against a configured one.
func signingAlgorithm(key crypto.Signer, want string) (string, error) {
	alg := ""
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		if k.Curve.Params().BitSize == 256 {
			alg = "ES256"
		}
	case *rsa.PrivateKey:
		alg = "RS256"
	case ed25519.PrivateKey:
		alg = "EdDSA"
	}
	switch {
	case alg == "":
		return "", errors.New("auth: clientKey is of a kind that cannot sign: use P-256, RSA or Ed25519")
	case want != "" && want != alg:
		return "", fmt.Errorf("auth: keyAlg is %s, and the key makes %s", want, alg)
	}
	return alg, nil
}

// signedJWT returns a signed token (RFC 7515, compact form).
func signedJWT(key crypto.Signer, header, claims map[string]any) (string, error) {
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString(head) + "." + enc.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	switch k := key.(type) {
	case *ecdsa.PrivateKey: // RFC 7518, 3.4: both numbers, 32 bytes each
		r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
		if err != nil {
			return "", err
		}
		sig = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case ed25519.PrivateKey:
		sig = ed25519.Sign(k, []byte(text))
	default:
		if sig, err = key.Sign(rand.Reader, sum[:], crypto.SHA256); err != nil {
			return "", err
		}
	}
	return text + "." + enc.EncodeToString(sig), nil
}
