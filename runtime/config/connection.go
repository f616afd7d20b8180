package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Connection stands, as Digest does, for how the server is reached: it is another
// one exactly where a connection that is open has to be made anew for a change
// of the entry to take effect. Time-outs, isolation and what else concerns serve
// alone are not in it, nor the origin.
func (e Entry) Connection() string {
	text, err := json.Marshal(struct {
		Command, Cwd, URL, Transport, MissingEnv, RequestIDFormat string
		Args, CLIOnly                                             []string
		Env, Headers                                              map[string]string
		CLI, Strict                                               bool
		Fault                                                     string
	}{
		e.Command, e.Cwd, e.URL, e.Transport(), e.MissingEnv, e.RequestIDFormat, e.Args, e.CLIOnly, e.Env, e.Headers, e.CLI, e.Strict, e.faultText(),
	})
	if err != nil {
		panic("config: strings have no JSON form: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (e Entry) faultText() string {
	if e.Fault == nil {
		return ""
	}
	return e.Fault.Message
}
