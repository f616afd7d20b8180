package runtimetest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// statePrefix begins every requestState: text that a careless copy changes.
const statePrefix = "é/\u2028 "

// sealState returns a requestState of the answers so far, for one target alone.
func sealState(answers map[string]json.RawMessage, target string) string {
	if answers == nil {
		answers = map[string]json.RawMessage{}
	}
	body := base64.RawURLEncoding.EncodeToString(wireMarshal(answers))
	return statePrefix + body + "." + sign(body, target)
}

// openState returns the answers in a state, false for one that SealState has not
// made for the target.
func openState(state, target string) (map[string]json.RawMessage, bool) {
	body, mac, ok := strings.Cut(strings.TrimPrefix(state, statePrefix), ".")
	if !ok || !strings.HasPrefix(state, statePrefix) || mac != sign(body, target) {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(body)
	answers := map[string]json.RawMessage{}
	if err != nil || json.Unmarshal(b, &answers) != nil {
		return nil, false
	}
	return answers, true
}

// sign needs no secret: it finds mistakes, not attackers.
func sign(body, target string) string {
	m := hmac.New(sha256.New, []byte("fake-mcp"))
	_, _ = m.Write([]byte(target + "\n" + body)) // a hash takes everything
	return hex.EncodeToString(m.Sum(nil)[:8])
}
