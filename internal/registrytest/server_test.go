package registrytest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/test/require"
)

func sampleServer(t *testing.T, o registrytest.Options) http.Handler {
	t.Helper()
	recs, err := registrytest.Records()
	require.NoError(t, err)
	h, err := registrytest.NewServer(recs, o)
	require.NoError(t, err)
	return h
}

func get(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

type page struct {
	Servers []struct {
		Server struct {
			Name, Version string
		}
		Meta map[string]struct {
			Status   string
			IsLatest bool
		} `json:"_meta"`
	}
	Metadata struct {
		NextCursor string
		Count      int
	}
}

func (p page) names() []string {
	out := []string{}
	for _, s := range p.Servers {
		out = append(out, s.Server.Name+"@"+s.Server.Version)
	}
	return out
}

func getPage(t *testing.T, h http.Handler, target string) page {
	t.Helper()
	w := get(h, target)
	var p page
	if err := json.Unmarshal(w.Body.Bytes(), &p); w.Code != http.StatusOK || err != nil {
		t.Fatalf("GET %s: got %d %v, want a page\n%s", target, w.Code, err, w.Body)
	}
	return p
}

func TestLists(t *testing.T) {
	h := sampleServer(t, registrytest.Options{})
	tests := map[string]struct {
		target string
		want   []string
		cursor string
	}{
		"every version, as text order": {
			"/v0.1/servers?search=atlas",
			[]string{"io.github.acme/atlas@2.1.0", "io.github.acme/atlas@3.0.0-rc.1"},
			"",
		},
		"latest counts prereleases": {"/v0.1/servers?search=atlas&version=latest", []string{"io.github.acme/atlas@3.0.0-rc.1"}, ""},
		"exact version":             {"/v0.1/servers?search=acme&version=1.2.0", []string{"io.github.acme/thing@1.2.0"}, ""},
		"letter case":               {"/v0/servers?search=THING&version=latest", []string{"io.github.acme/thing@1.3.0"}, ""},
		"only names are searched":   {"/v0.1/servers?search=forecasts", []string{}, ""},
		"a space never matches":     {"/v0.1/servers?search=github%20issues", []string{}, ""},
		"wildcards are text":        {"/v0.1/servers?search=%25%25%25", []string{}, ""},
		"full page has a cursor": {
			"/v0.1/servers?search=calendar&limit=2",
			[]string{"com.example.oak/calendar@3.0.1", "io.github.birch/calendar@1.4.2"},
			"io.github.birch/calendar:1.4.2",
		},
		"and an empty page behind it": {"/v0.1/servers?search=calendar&limit=2&cursor=io.github.birch%2Fcalendar%3A1.4.2", []string{}, ""},
		"page in the middle": {
			"/v0.1/servers?search=thing&limit=1&cursor=io.github.acme%2Fthing%3A1.2.0",
			[]string{"io.github.acme/thing@1.3.0"},
			"io.github.acme/thing:1.3.0",
		},
		"a cursor of nonsense is no error": {"/v0.1/servers?cursor=zzz", []string{}, ""},
		"deleted is hidden":                {"/v0.1/servers?search=acme/gone", []string{}, ""},
		"deleted on demand":                {"/v0.1/servers?search=acme/gone&include_deleted=true", []string{"io.github.acme/gone@1.0.0"}, ""},
		"unknown parameters are ignored":   {"/v0.1/servers?q=zzz&limit=1", []string{"com.example.demo/workshop@1.0.0"}, "com.example.demo/workshop:1.0.0"},
		"versions, newest first":           {"/v0.1/servers/io.github.acme%2Fthing/versions", []string{"io.github.acme/thing@1.3.0", "io.github.acme/thing@1.2.0"}, ""},
		"updated since the future":         {"/v0.1/servers?updated_since=2099-01-01T00:00:00Z", []string{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := getPage(t, h, tt.target)
			if diff := cmp.Diff(tt.want, p.names()); diff != "" {
				t.Error(diff)
			}
			if p.Metadata.NextCursor != tt.cursor || p.Metadata.Count != len(tt.want) {
				t.Errorf("got cursor %q and count %d, want %q and %d", p.Metadata.NextCursor, p.Metadata.Count, tt.cursor, len(tt.want))
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	h := sampleServer(t, registrytest.Options{})
	tests := map[string]struct {
		target string
		code   int
		detail string
	}{
		"short search":     {"/v0.1/servers?search=%20ab%20", 422, "search must contain at least 3 characters after trimming surrounding whitespace"},
		"large limit":      {"/v0.1/servers?limit=101", 422, "validation failed"},
		"limit of nothing": {"/v0.1/servers?limit=0", 422, "validation failed"},
		"limit of words":   {"/v0.1/servers?limit=ten", 422, "validation failed"},
		"bad time":         {"/v0.1/servers?updated_since=yesterday", 400, "Invalid updated_since format: expected RFC3339 timestamp (e.g., 2025-08-07T13:15:04.280Z)"},
		"missing server":   {"/v0.1/servers/io.none%2Fnope/versions/latest", 404, "Server not found"},
		"missing version":  {"/v0.1/servers/io.github.acme%2Fthing/versions/9.9.9", 404, "Server not found"},
		"no versions":      {"/v0.1/servers/io.none%2Fnope/versions", 404, "Server not found"},
		"deleted":          {"/v0.1/servers/io.github.acme%2Fgone/versions/latest", 404, "Server not found"},
		"bare slash":       {"/v0.1/servers/io.github.acme/thing/versions/latest", 404, "Endpoint not found. See /docs for the API documentation."},
		"without versions": {"/v0.1/servers/io.github.acme%2Fthing", 404, "Endpoint not found. See /docs for the API documentation."},
		"no prefix":        {"/servers", 404, "Endpoint not found. Did you mean '/v0.1/servers' or '/v0/servers'? See /docs for the API documentation."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := get(h, tt.target)
			var p struct {
				Title, Detail string
				Status        int
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
			if w.Code != tt.code || p.Status != tt.code || p.Detail != tt.detail || p.Title != http.StatusText(tt.code) {
				t.Errorf("got %d %+v, want %d %q", w.Code, p, tt.code, tt.detail)
			}
			if ct := w.Header().Get("Content-Type"); ct != "application/problem+json" {
				t.Errorf("got content type %q, want application/problem+json", ct)
			}
		})
	}
	if w := get(h, "/v0.1/servers/"); w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != "/v0.1/servers" {
		t.Errorf("trailing slash: got %d to %q, want 308 to /v0.1/servers", w.Code, w.Header().Get("Location"))
	}
}

func TestStatusAndLatest(t *testing.T) {
	doc := func(version, status string) json.RawMessage {
		return json.RawMessage(`{"server":{"name":"a.b/c","description":"x","version":"` + version +
			`"},"_meta":{"io.modelcontextprotocol.registry/official":{"status":"` + status + `"}}}`)
	}
	tests := map[string]struct {
		records []json.RawMessage
		want    string
	}{
		"numbers, not text":          {[]json.RawMessage{doc("1.2.0", "active"), doc("1.10.0", "active")}, "1.10.0"},
		"a release over its preview": {[]json.RawMessage{doc("2.0.0", "active"), doc("2.0.0-rc.1", "active")}, "2.0.0"},
		"a preview over the past":    {[]json.RawMessage{doc("1.9.0", "active"), doc("2.0.0-rc.1", "active")}, "2.0.0-rc.1"},
		"deleted is passed over":     {[]json.RawMessage{doc("1.0.0", "active"), doc("2.0.0", "deleted")}, "1.0.0"},
		"deprecated counts":          {[]json.RawMessage{doc("1.0.0", "active"), doc("2.0.0", "deprecated")}, "2.0.0"},
		"words are below numbers":    {[]json.RawMessage{doc("0.0.1", "active"), doc("nightly", "active")}, "0.0.1"},
		"newest of words":            {[]json.RawMessage{doc("zebra", "active"), doc("apple", "active")}, "apple"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h, err := registrytest.NewServer(tt.records, registrytest.Options{})
			require.NoError(t, err)
			p := getPage(t, h, "/v0.1/servers?version=latest")
			if diff := cmp.Diff([]string{"a.b/c@" + tt.want}, p.names()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReplaceRemoteURL(t *testing.T) {
	h := sampleServer(t, registrytest.Options{RemoteURLs: map[string]string{registrytest.Workshop: "http://127.0.0.1:4711/mcp"}})
	w := get(h, "/v0.1/servers/com.example.demo%2Fworkshop/versions/latest")
	if !strings.Contains(w.Body.String(), `"url":"http://127.0.0.1:4711/mcp"`) || strings.Contains(w.Body.String(), "workshop.demo.example.com") {
		t.Errorf("got %s, want the replaced URL", w.Body)
	}
	recs, err := registrytest.Records()
	require.NoError(t, err)
	if _, err := registrytest.NewServer(recs, registrytest.Options{RemoteURLs: map[string]string{"io.github.acme/thing": "http://x"}}); err == nil {
		t.Error("got no error for a server without remotes")
	}
}

func TestNewServerRefuses(t *testing.T) {
	doc := json.RawMessage(`{"name":"a.b/c","version":"1.0.0"}`)
	for name, recs := range map[string][]json.RawMessage{
		"twice": {doc, doc}, "no name": {json.RawMessage(`{"version":"1"}`)}, "no object": {json.RawMessage(`[]`)},
	} {
		if _, err := registrytest.NewServer(recs, registrytest.Options{}); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
