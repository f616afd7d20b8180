package config_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// TestParseType: a word of "type" is a transport, or none; "cli" is no type.
func TestParseType(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]struct {
		transport string
		url       bool
	}{
		"stdio": {config.TransportStdio, false}, "http": {config.TransportHTTP, true}, "sse": {config.TransportSSE, true},
		"streamable-http": {config.TransportHTTP, true}, "streamableHttp": {config.TransportHTTP, true},
		"": {}, "cli": {}, "HTTP": {}, "ws": {},
	} {
		if transport, url := config.ParseType(word); transport != want.transport || url != want.url {
			t.Errorf("%q: %q, url %t; want %q, %t", word, transport, url, want.transport, want.url)
		}
	}
}
