package config

import (
	"strings"

	"github.com/mcpctl/mcpctl/runtime/origin"
)

// OwnHeader returns why a configuration must not set a header, "" if it may: it
// belongs to the protocol, or to the connection. Such a header is not sent, except
// Host, which replaces the host of the URL.
func OwnHeader(name string) string {
	switch {
	case strings.EqualFold(name, "host"):
		return "asks the machine of the URL for another host"
	case origin.IsProtocols(name):
		return "belongs to the protocol"
	case origin.IsFraming(name):
		return "belongs to the connection"
	}
	return ""
}
