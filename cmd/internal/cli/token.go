package cli

import (
	"io"
	"net/url"
	"os"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// maxToken bounds a token on standard input, in bytes.
const maxToken = 64 << 10

// ReadToken returns the token that standard input has.
func ReadToken(u *ui.UI) (string, error) {
	if u.InTTY {
		return "", ui.Usage("--token-stdin reads a file or a pipe, not the terminal").WithHint("leave it out, and a token is asked for where the server needs one")
	}
	raw, err := io.ReadAll(io.LimitReader(u.In, maxToken+1))
	switch {
	case err != nil:
		return "", err
	case len(raw) > maxToken:
		return "", ui.Usage("--token-stdin: that is not a token: it has more than %d bytes", maxToken)
	}
	text, err := auth.CheckToken(string(raw))
	if err != nil {
		return "", ui.Usage("--token-stdin: %w", err)
	}
	return text, nil
}

// Until says when a token ends, "" where nothing is known.
func Until(t tokenstore.Token) string {
	if t.Expires.IsZero() {
		return ""
	}
	return ", until " + t.Expires.Local().Format(time.DateTime)
}

// Canonical returns the address that a server's tokens are kept under, "" for none.
func Canonical(entry config.Entry) string {
	x, err := entry.Expand(os.LookupEnv)
	if err != nil || entry.URL == "" {
		return ""
	}
	u, err := url.Parse(x.URL.Reveal())
	if err != nil {
		return ""
	}
	return auth.Canonical(u)
}
