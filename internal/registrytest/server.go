// Package registrytest is an MCP registry in this process: an [http.Handler]
// that answers reads as the public registry's own server (v1.8.7) does, from
// given records or the samples of [Records]. It is for tests and mcpctl's demo and
// read-only.
package registrytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/registry"
)

const officialMeta = "io.modelcontextprotocol.registry/official"

// Options are settings of a registry. The zero value is useful.
type Options struct {
	// RemoteURLs replaces the URL of the first remote of the servers named, in
	// every version: a demo points a sample at its own server.
	RemoteURLs map[string]string
	// Published is when the first record was published; each one after it is a
	// second later. Zero: 2026-01-01 UTC.
	Published time.Time
}

// entry is one version of a server.
type entry struct {
	name, version, status, message, publishedAt string
	published                                   time.Time
	latest                                      bool
	doc                                         json.RawMessage
}

type server struct {
	entries []*entry // by name, then version as text
}

// NewServer returns a registry of records: server.json documents, or objects
// {"server":…,"_meta":…} whose _meta sets status, statusMessage and
// publishedAt. The highest semantic version is marked latest. Two records of the
// same name and version are an error.
func NewServer(records []json.RawMessage, o Options) (http.Handler, error) {
	if o.Published.IsZero() {
		o.Published = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	s := &server{}
	for i, raw := range records {
		rec, err := registry.ParseRecord(raw)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
		e := &entry{
			name: rec.Server.Name, version: rec.Server.Version, doc: rec.Server.Raw,
			status: string(rec.Meta.Status), message: rec.Meta.StatusMessage,
			published: o.Published.Add(time.Duration(i) * time.Second),
		}
		if at, err := time.Parse(time.RFC3339, rec.Meta.PublishedAt); err == nil {
			e.published = at
		}
		e.publishedAt = e.published.UTC().Format(time.RFC3339Nano)
		if u, ok := o.RemoteURLs[e.name]; ok {
			if e.doc, err = replaceRemoteURL(e.doc, u); err != nil {
				return nil, fmt.Errorf("record %d, %s: %w", i, e.name, err)
			}
		}
		s.entries = append(s.entries, e)
	}
	slices.SortStableFunc(s.entries, func(a, b *entry) int {
		return compareKeys(a.name, a.version, b.name, b.version)
	})
	for i := 1; i < len(s.entries); i++ {
		if a, b := s.entries[i-1], s.entries[i]; a.name == b.name && a.version == b.version {
			return nil, fmt.Errorf("%s %s is in the records twice", a.name, a.version)
		}
	}
	s.markLatest()
	mux := http.NewServeMux()
	for _, prefix := range []string{"/v0", "/v0.1"} {
		mux.HandleFunc("GET "+prefix+"/servers", s.list)
		mux.HandleFunc("GET "+prefix+"/servers/{name}/versions", s.versions)
		mux.HandleFunc("GET "+prefix+"/servers/{name}/versions/{version}", s.version)
		mux.HandleFunc("GET "+prefix+"/health", respond(map[string]any{"status": "ok"}))
		mux.HandleFunc("GET "+prefix+"/ping", respond(map[string]any{"pong": true}))
		mux.HandleFunc("GET "+prefix+"/version", respond(map[string]any{"version": "registrytest", "git_commit": "", "build_time": ""}))
		mux.HandleFunc("GET "+prefix+"/servers/{$}", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, strings.TrimSuffix(r.URL.Path, "/"), http.StatusPermanentRedirect) //nolint:gosec // to a path of its own
		})
	}
	mux.HandleFunc("/", noEndpoint)
	return mux, nil
}

func compareKeys(nameA, versionA, nameB, versionB string) int {
	if c := strings.Compare(nameA, nameB); c != 0 {
		return c
	}
	return strings.Compare(versionA, versionB)
}

// markLatest marks one version of each server: the highest active or
// deprecated one by semantic order; a version that is not semantic is below
// any that is, and among those the later published wins. Where all are
// deleted, the highest of them.
func (s *server) markLatest() {
	better := func(a, b *entry) bool {
		if aGone, bGone := a.status == "deleted", b.status == "deleted"; aGone != bGone {
			return bGone
		}
		if c := registry.CompareVersions(a.version, b.version); c != 0 {
			return c > 0
		}
		return a.published.After(b.published)
	}
	best := map[string]*entry{}
	for _, e := range s.entries {
		if b := best[e.name]; b == nil || better(e, b) {
			best[e.name] = e
		}
	}
	for _, e := range best {
		e.latest = true
	}
}

// replaceRemoteURL changes remotes[0].url of a document and removes its variables.
func replaceRemoteURL(doc json.RawMessage, to string) (json.RawMessage, error) {
	var m map[string]json.RawMessage
	var remotes []map[string]any
	if err := json.Unmarshal(doc, &m); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(m["remotes"], &remotes); err != nil || len(remotes) == 0 {
		return nil, errors.New("the record has no remote whose URL could be replaced")
	}
	remotes[0]["url"] = to
	delete(remotes[0], "variables")
	b, err := json.Marshal(remotes)
	if err != nil {
		return nil, err
	}
	m["remotes"] = b
	return json.Marshal(m)
}

// record returns the list item of an entry.
func (e *entry) record() any {
	meta := struct {
		Status          string `json:"status"`
		StatusChangedAt string `json:"statusChangedAt"`
		StatusMessage   string `json:"statusMessage,omitempty"`
		PublishedAt     string `json:"publishedAt"`
		UpdatedAt       string `json:"updatedAt"`
		IsLatest        bool   `json:"isLatest"`
	}{e.status, e.publishedAt, e.message, e.publishedAt, e.publishedAt, e.latest}
	return struct {
		Server json.RawMessage `json:"server"`
		Meta   any             `json:"_meta"`
	}{e.doc, map[string]any{officialMeta: meta}}
}

// find returns the versions of a server, deleted ones on demand.
func (s *server) find(name string, deleted bool) []*entry {
	var out []*entry
	for _, e := range s.entries {
		if e.name == name && (deleted || e.status != "deleted") {
			out = append(out, e)
		}
	}
	return out
}
