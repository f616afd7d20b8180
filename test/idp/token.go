package idp

import "hash/crc32"

// StaticToken returns the token of mcpctl access token add with an id of 8 and a secret of
// 43 characters of base 62: its last characters are the checksum.
func StaticToken(id, secret string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	text := "mcpctl_" + id + "_" + secret
	var out [6]byte
	sum := crc32.ChecksumIEEE([]byte(text))
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = digits[sum%62]
		sum /= 62
	}
	return text + string(out[:])
}
