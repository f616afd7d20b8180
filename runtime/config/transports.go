package config

import "slices"

// Transports of an [Entry].
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http"
	TransportSSE   = "sse"
	TransportCLI   = "cli"
)

// transports are those that an entry can name in "type".
var transports = []struct { //nolint:gochecknoglobals // a table
	name    string
	aliases []string // what other files of servers call it
	url     bool     // the entry has a url, not a command
}{
	{name: TransportStdio},
	{name: TransportHTTP, aliases: []string{"streamable-http", "streamableHttp"}, url: true},
	{name: TransportSSE, url: true},
}

// ParseType returns the transport that a value of "type" names, and whether it is one for
// an entry with a url. It returns "" for an unknown value. [TransportCLI] is unknown: it is
// no type, but a command with "cli": true.
func ParseType(word string) (transport string, url bool) {
	for _, t := range transports {
		if t.name == word || slices.Contains(t.aliases, word) {
			return t.name, t.url
		}
	}
	return "", false
}

// Transport returns how the server is reached: "stdio", "http", "sse" or "cli".
// The shape decides, and type only between those of one shape. It is "" for an entry
// with neither command nor URL.
func (e Entry) Transport() string {
	switch {
	case e.URL != "" && e.Command == "":
		return e.named(true, TransportHTTP)
	case e.Command != "" && e.CLI:
		return TransportCLI
	case e.Command != "":
		return e.named(false, TransportStdio)
	}
	return ""
}

// named returns the transport that type names, if it suits the shape of the entry, else the
// usual one.
func (e Entry) named(hasURL bool, usual string) string {
	if t, url := ParseType(e.Type); t != "" && url == hasURL {
		return t
	}
	return usual
}
