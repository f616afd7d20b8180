package jwt

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestMaxAge(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]time.Duration{
		"": 0, "public, max-age=300": 5 * time.Minute, "MAX-AGE=\"90\"": 90 * time.Second, "max-age=0": time.Minute, "no-store": time.Minute,
		"max-age=x": 0, "max-age=99999999999": 0, "max-age=-1": 0, "no-cache, max-age=300": time.Minute, "private": 0,
	} {
		if got := maxAgeOf(http.Header{"Cache-Control": {line}}); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}

// TestFrom: keys are where the metadata says, and are looked for again when they are not.
func TestFrom(t *testing.T) {
	t.Parallel()
	s := idp.NewServer(idp.NewKey("one", "EdDSA"))
	defer s.Close()
	p, err := auth.NewMetadataClient(s.URL)
	require.NoError(t, err)
	fetch := FetchKeys(p, "")
	s.Set(func(s *idp.Server) { s.Header = map[string]string{"Cache-Control": "max-age=120"} })
	for range 2 {
		doc, err := fetch(t.Context())
		if err != nil || !strings.Contains(string(doc.Body), "one") || doc.MaxAge != 2*time.Minute {
			t.Errorf("got %s, %v, %v", doc.Body, doc.MaxAge, err)
		}
	}
	if n := s.Asked("/.well-known/oauth-authorization-server"); n != 1 {
		t.Errorf("the metadata was read %d times", n)
	}
	s.Set(func(s *idp.Server) { s.Status = http.StatusBadGateway })
	if _, err := fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("got %v", err)
	}
	if _, err := fetch(t.Context()); err == nil {
		t.Error("a broken issuer has keys")
	}
	s.Set(func(s *idp.Server) { s.Status, s.More = 0, idp.Claims{"jwks_uri": s.URL + "/moved"} })
	if _, err := fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "/moved") {
		t.Errorf("the keys have moved: got %v", err)
	}
}

// TestFromAbroad: keys are not fetched from where an issuer must not lead us.
func TestFromAbroad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change idp.Claims
		want   string
	}{
		{idp.Claims{"jwks_uri": ""}, "no jwks_uri"},
		{idp.Claims{"jwks_uri": "http://192.0.2.1/keys"}, "neither https"},
		{idp.Claims{"jwks_uri": "https://169.254.169.254/keys"}, "169.254"},
		{idp.Claims{"jwks_uri": "file:///etc/passwd"}, "not an address"},
		{idp.Claims{"issuer": "https://evil.example"}, "says that it is"},
	} {
		s := idp.NewServer(idp.NewKey("one", "EdDSA"))
		s.Set(func(s *idp.Server) { s.More = c.change })
		p, err := auth.NewMetadataClient(s.URL)
		require.NoError(t, err)
		if _, err := FetchKeys(p, "")(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v", c.change, err)
		}
		s.Close()
	}
	if _, err := auth.NewMetadataClient("http://idp.example"); err == nil {
		t.Error("an issuer without TLS is read from")
	}
}
