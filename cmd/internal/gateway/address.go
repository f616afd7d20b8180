package gateway

import (
	"net"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// DefaultAddress is where HTTP is served if no address is given.
const DefaultAddress = "127.0.0.1:8080"

// IsLoopback reports whether a host is this machine's alone.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// SplitAddress returns host and port of an address; a port alone is one of this machine.
func SplitAddress(text string) (host, port string, err error) {
	o := Options{Command: "serve", HTTP: text, Insecure: true}
	if err := o.checkAddress(); err != nil {
		return "", "", err
	}
	return net.SplitHostPort(o.HTTP)
}

// completeAddress adds this machine's address to a port alone. ":8080" is not one: it
// means all addresses elsewhere.
func (o *Options) completeAddress() {
	if _, err := strconv.ParseUint(o.HTTP, 10, 64); err == nil {
		o.HTTP = net.JoinHostPort("127.0.0.1", o.HTTP)
	}
}

// checkAddress completes the address, and refuses one that other machines can reach: anyone there could
// call every tool.
func (o *Options) checkAddress() error {
	usage := func(remedy, format string, a ...any) error {
		return ui.Usage(format, a...).WithHint("%s", remedy)
	}
	o.completeAddress()
	example := "mcpctl " + o.Command + " --http " + DefaultAddress
	host, port, err := net.SplitHostPort(o.HTTP)
	if err != nil {
		return usage(example, "address %q: want HOST:PORT or PORT", o.HTTP)
	}
	if n, err := strconv.Atoi(port); err == nil && (n < 0 || n > 65535) {
		return usage(example, "address %q: a port is at most 65535", o.HTTP)
	}
	if o.Insecure || o.asks || IsLoopback(host) {
		return nil
	}
	remedy := "use " + net.JoinHostPort("127.0.0.1", port)
	if o.Command == "serve" {
		remedy += ", or ask for tokens: mcpctl access --help; --insecure asks nobody"
	} else {
		remedy += ", or --insecure where the network is trusted"
	}
	return usage(remedy,
		"%s can be reached from other machines, and there is no authentication", o.HTTP)
}
