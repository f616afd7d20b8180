package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest returns the SHA-256, in hexadecimal, of the entry as in the file,
// placeholders unexpanded. So it holds no secret that is a placeholder, and stays
// the same when the secret is replaced; it changes with anything else in the entry
// except white space and comments.
func (e Entry) Digest() string { return digest(e.Raw) }

// Connection returns a digest of how the server is reached: it changes exactly
// when an open connection has to be replaced for a change of the entry to take
// effect. Timeouts, isolation and other settings of serve are not in it, nor the
// origin.
func (e Entry) Connection() string {
	fault := ""
	if e.Fault != nil {
		fault = e.Fault.Message
	}
	text, err := json.Marshal(struct {
		Command, Cwd, URL, Transport, MissingEnv, RequestIDFormat string
		Args, CLIOnly                                             []string
		Env, Headers                                              map[string]string
		CLI, Strict                                               bool
		Fault                                                     string
	}{
		e.Command, e.Cwd, e.URL, e.Transport(), e.MissingEnv, e.RequestIDFormat, e.Args, e.CLIOnly, e.Env, e.Headers, e.CLI, e.Strict, fault,
	})
	if err != nil {
		panic("config: strings have no JSON form: " + err.Error())
	}
	return digest(text)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
