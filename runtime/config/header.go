package config

import "strings"

// OwnHeader returns why a configuration must not set a header, "" if it may: it
// belongs to the protocol, or to the connection. Such a header is not sent, except
// Host, which replaces the host of the URL.
func OwnHeader(name string) string {
	switch lower := strings.ToLower(name); {
	case lower == "host":
		return "asks the machine of the URL for another host"
	case lower == "content-type", lower == "accept", lower == "last-event-id", strings.HasPrefix(lower, "mcp-"):
		return "belongs to the protocol"
	case IsFraming(name):
		return "belongs to the connection"
	}
	return ""
}

// IsFraming reports whether a header frames a message or controls its connection
// (RFC 9110, section 7.6.1; RFC 9112, section 6).
func IsFraming(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect", "http2-settings":
		return true
	default:
		return strings.HasPrefix(lower, "proxy-")
	}
}
