package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// withMetadata puts the metadata of serve before a handler: it says to everyone who
// issues tokens (RFC 9728). Without issuers there is none, which clients take as that.
func withMetadata(next http.Handler, web proxy.HTTPOptions, i *issuers) http.Handler {
	doc := i.metadata()
	paths := []string{"", "/mcp", "/sse"}
	if u, err := url.Parse(i.resource); err == nil {
		paths = append(paths, u.Path) // of a proxy that passes the whole path on
	}
	open := web
	open.Authenticator = nil
	answer := proxy.Guard(open, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeMetadata(w, r, doc) }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isMetadata(r.URL.Path, paths) {
			next.ServeHTTP(w, r)
			return
		}
		public := r.Clone(r.Context())
		for _, name := range []string{"Origin", "Sec-Fetch-Site"} { // pages of others may read it
			public.Header.Del(name)
		}
		answer.ServeHTTP(w, public)
	})
}

// isMetadata reports whether a path is that of the metadata of an endpoint, or of a view of one, of
// whatever name: which there are is for those alone who are let in.
func isMetadata(path string, paths []string) bool {
	at, ok := strings.CutPrefix(path, metadataPath)
	return ok && slices.ContainsFunc(paths, func(p string) bool {
		name, ofView := strings.CutPrefix(at, p+"/")
		return at == p || ofView && p != "" && name != "" && !strings.Contains(name, "/")
	})
}

// metadata returns the document, nil for none.
func (i *issuers) metadata() []byte {
	if len(i.names) == 0 {
		return nil
	}
	doc, _ := json.Marshal(struct { // it always has a JSON form
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
	}{i.resource, i.names, i.scopes, []string{"header"}, "mcpctl"})
	return append(doc, '\n')
}

// writeMetadata answers a request for a document; nil is not there.
func writeMetadata(w http.ResponseWriter, r *http.Request, doc []byte) {
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", "*")
	switch {
	case doc == nil:
		http.NotFound(w, r)
	case r.Method == http.MethodOptions: // clients in browsers send the revision (Fetch, CORS preflight)
		head.Set("Access-Control-Allow-Methods", "GET")
		head.Set("Access-Control-Allow-Headers", "MCP-Protocol-Version")
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		head.Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "the metadata is only read", http.StatusMethodNotAllowed)
	default:
		head.Set("Content-Type", "application/json")
		head.Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(doc) // the client may be gone
	}
}
