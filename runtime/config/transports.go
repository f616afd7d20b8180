package config

import "slices"

// Transports of an [Entry].
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http"
	TransportSSE   = "sse"
	TransportCLI   = "cli"
)

// transports are those that an entry can name in "type", the one that a command has
// without it first, and that of a url first among those of a url.
var transports = []struct { //nolint:gochecknoglobals // a table
	name    string
	aliases []string // what other files of servers call it
	url     bool     // the entry has a url, not a command
}{
	{name: TransportStdio},
	{name: TransportHTTP, aliases: []string{"streamable-http", "streamableHttp"}, url: true},
	{name: TransportSSE, url: true},
}

// ParseType returns the transport that a value of "type" stands for, and whether it is
// one for an entry with a url. It returns "" for an unknown value. [TransportCLI] is unknown: it is
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
// The shape decides, and type only between http and sse. It is "" for an entry
// with neither command nor URL.
func (e Entry) Transport() string {
	switch {
	case e.URL != "" && e.Command == "":
		if named, url := ParseType(e.Type); url {
			return named
		}
		return TransportHTTP
	case e.Command != "" && e.CLI:
		return TransportCLI
	case e.Command != "":
		return TransportStdio
	}
	return ""
}
