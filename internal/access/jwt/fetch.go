package jwt

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/auth"
)

// FetchKeys returns what fetches the keys of an issuer: from an address, or with "" from where
// the issuer's metadata says. It is not safe for concurrent use.
func FetchKeys(p *auth.MetadataClient, address string) func(context.Context) (KeyDocument, error) {
	at := address
	return func(ctx context.Context) (KeyDocument, error) {
		if at == "" {
			meta, err := p.Metadata(ctx)
			if err != nil {
				return KeyDocument{}, err
			}
			if at = meta.Keys; at == "" {
				return KeyDocument{}, errors.New("its metadata has no jwks_uri")
			}
		}
		header, body, err := p.Get(ctx, at)
		if err != nil {
			at = address // which may have moved
			return KeyDocument{}, err
		}
		return KeyDocument{Body: body, MaxAge: maxAgeOf(header)}, nil
	}
}

// maxAgeOf returns how long an answer may be kept (RFC 9111, 5.2.2), zero for nothing
// said.
func maxAgeOf(h http.Header) time.Duration {
	for _, line := range h["Cache-Control"] {
		for word := range strings.SplitSeq(strings.ToLower(line), ",") {
			switch name, value, _ := strings.Cut(strings.TrimSpace(word), "="); name {
			case "no-store", "no-cache":
				return minAge
			case "max-age":
				if seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
					return max(time.Duration(seconds)*time.Second, minAge)
				}
			}
		}
	}
	return 0
}
