package origin

import "strings"

// OwnHeader returns why a configuration must not set a header, "" if it may: it
// belongs to the protocol, or to the connection. Such a header is not sent, except
// Host, which replaces the host of the URL.
func OwnHeader(name string) string {
	switch {
	case strings.EqualFold(name, "host"):
		return "asks the machine of the URL for another host"
	case IsProtocols(name):
		return "belongs to the protocol"
	case IsFraming(name):
		return "belongs to the connection"
	}
	return ""
}
