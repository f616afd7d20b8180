package rootca_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcpctl/mcpctl/internal/rootca"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestTrust: a server whose certificate nobody knows is reached once that is trusted.
func TestTrust(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	if rootca.Pool() != nil || rootca.Client() != nil {
		t.Error("something is trusted from the beginning")
	}
	if err := rootca.Trust([]byte("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n")); err == nil || rootca.Pool() != nil {
		t.Errorf("got %v", err)
	}
	require.NoError(t, rootca.Trust(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	own := http.Client{Transport: &http.Transport{TLSClientConfig: rootca.Client()}}
	for name, c := range map[string]*http.Client{"own": &own, "default": http.DefaultClient} {
		resp, err := c.Get(s.URL)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = resp.Body.Close()
	}
}
