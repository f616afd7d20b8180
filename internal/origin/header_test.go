package origin_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/origin"
)

func TestOwnHeader(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Authorization": "", "X-Key": "", "Cookie": "", "User-Agent": "", "Accept-Language": "", "Proxy": "", "Mcp": "", "Tea": "",
		"HOST": "another host", "content-type": "the protocol", "Accept": "the protocol", "Last-Event-ID": "the protocol", "mCP-x": "the protocol",
		"Content-Length": "the connection", "TRANSFER-encoding": "the connection", "connection": "the connection", "Upgrade": "the connection",
		"te": "the connection", "Trailer": "the connection", "Keep-Alive": "the connection", "Proxy-Anything": "the connection", "Expect": "the connection",
	} {
		if got := origin.OwnHeader(name); (got == "") != (want == "") || !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
