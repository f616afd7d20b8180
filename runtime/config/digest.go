package config

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest stands for all that is configured of a server: it is the SHA-256, in
// hexadecimal, of the entry as in the file, placeholders unexpanded. So it
// holds no secret that is a placeholder, and stays the same when the secret is
// replaced; any other change of the entry, but to white space and comments,
// gives another.
func (e Entry) Digest() string {
	sum := sha256.Sum256(e.Raw)
	return hex.EncodeToString(sum[:])
}
