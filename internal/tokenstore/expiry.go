package tokenstore

import (
	"encoding/json"
	"strings"
	"time"
)

// Expiry returns when a token ends whose answer was got now and says expires_in (RFC
// 6749, 5.1); zero where it has not said.
func Expiry(expiresIn json.RawMessage, now time.Time) time.Time {
	if lifetime := Seconds(expiresIn); lifetime > 0 {
		return now.Add(lifetime)
	}
	return time.Time{}
}

// Seconds reads a number of seconds, which some send as text; 0 for none.
func Seconds(raw json.RawMessage) time.Duration {
	var n json.Number
	if json.Unmarshal([]byte(strings.Trim(string(raw), `"`)), &n) != nil {
		return 0
	}
	f, err := n.Float64()
	if err != nil || f <= 0 || f > 1e9 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}
