package registrytest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	defaultLimit = 30
	maxLimit     = 100
	minSearch    = 3
)

type problemError struct {
	Message  string `json:"message"`
	Location string `json:"location"`
	Value    any    `json:"value"`
}

type problemBody struct {
	Title  string         `json:"title"`
	Status int            `json:"status"`
	Detail string         `json:"detail"`
	Errors []problemError `json:"errors,omitempty"`
}

func answer(w http.ResponseWriter, status int, contentType string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client may be gone
}

func problem(w http.ResponseWriter, status int, detail string, errs ...problemError) {
	answer(w, status, "application/problem+json", problemBody{http.StatusText(status), status, detail, errs})
}

func respond(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "application/json", v) }
}

// noEndpoint answers every other path.
func noEndpoint(w http.ResponseWriter, r *http.Request) {
	detail := "Endpoint not found. See /docs for the API documentation."
	if r.URL.Path == "/servers" || strings.HasPrefix(r.URL.Path, "/servers/") {
		detail = "Endpoint not found. Did you mean '/v0.1" + r.URL.Path + "' or '/v0" + r.URL.Path + "'? See /docs for the API documentation."
	}
	problem(w, http.StatusNotFound, detail)
}

type envelope struct {
	Servers  []any    `json:"servers"`
	Metadata metadata `json:"metadata"`
}

type metadata struct {
	NextCursor string `json:"nextCursor,omitempty"`
	Count      int    `json:"count"`
}

// boolParam reads a boolean parameter; absent is false.
func boolParam(w http.ResponseWriter, r *http.Request, name string) (value, ok bool) {
	s := r.URL.Query().Get(name)
	if s == "" {
		return false, true
	}
	value, err := strconv.ParseBool(s)
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, "validation failed", problemError{"invalid boolean", "query." + name, s})
		return false, false
	}
	return value, true
}

// list answers GET /servers.
func (s *server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit := defaultLimit
	if l := q.Get("limit"); l != "" {
		n, err := strconv.Atoi(l)
		switch {
		case err != nil:
			problem(w, http.StatusUnprocessableEntity, "validation failed", problemError{"invalid integer", "query.limit", l})
			return
		case n > maxLimit:
			problem(w, http.StatusUnprocessableEntity, "validation failed", problemError{"expected number <= 100", "query.limit", n})
			return
		case n < 1:
			problem(w, http.StatusUnprocessableEntity, "validation failed", problemError{"expected number >= 1", "query.limit", n})
			return
		}
		limit = n
	}
	search := strings.ToLower(strings.TrimSpace(q.Get("search")))
	if search != "" && utf8.RuneCountInString(search) < minSearch {
		problem(w, http.StatusUnprocessableEntity, "search must contain at least 3 characters after trimming surrounding whitespace")
		return
	}
	deleted, ok := boolParam(w, r, "include_deleted")
	if !ok {
		return
	}
	var since time.Time
	if u := q.Get("updated_since"); u != "" {
		at, err := time.Parse(time.RFC3339, u)
		switch {
		case err != nil:
			problem(w, http.StatusBadRequest, "Invalid updated_since format: expected RFC3339 timestamp (e.g., 2025-08-07T13:15:04.280Z)")
			return
		case q.Get("include_deleted") != "" && !deleted:
			problem(w, http.StatusBadRequest, "include_deleted cannot be false when updated_since is given")
			return
		}
		since, deleted = at, true
	}
	version := q.Get("version")
	afterName, afterVersion, _ := strings.Cut(q.Get("cursor"), ":")
	page := envelope{Servers: []any{}}
	var last *entry
	for _, e := range s.entries {
		if len(page.Servers) == limit {
			break
		}
		switch {
		case q.Get("cursor") != "" && compareKeys(e.name, e.version, afterName, afterVersion) <= 0,
			!deleted && e.status == "deleted",
			search != "" && !strings.Contains(strings.ToLower(e.name), search),
			version == "latest" && !e.latest,
			version != "" && version != "latest" && e.version != version,
			!since.IsZero() && !e.published.After(since):
			continue
		}
		page.Servers = append(page.Servers, e.record())
		last = e
	}
	page.Metadata.Count = len(page.Servers)
	if len(page.Servers) == limit {
		// Present on every full page, also on the last one.
		page.Metadata.NextCursor = last.name + ":" + last.version
	}
	answer(w, http.StatusOK, "application/json", page)
}

// versions answers GET /servers/{name}/versions: newest publication first.
func (s *server) versions(w http.ResponseWriter, r *http.Request) {
	deleted, ok := boolParam(w, r, "include_deleted")
	if !ok {
		return
	}
	found := slices.Clone(s.find(r.PathValue("name"), deleted))
	if len(found) == 0 {
		problem(w, http.StatusNotFound, "Server not found")
		return
	}
	slices.SortStableFunc(found, func(a, b *entry) int { return b.published.Compare(a.published) })
	page := envelope{Metadata: metadata{Count: len(found)}}
	for _, e := range found {
		page.Servers = append(page.Servers, e.record())
	}
	answer(w, http.StatusOK, "application/json", page)
}

// version answers GET /servers/{name}/versions/{version}.
func (s *server) version(w http.ResponseWriter, r *http.Request) {
	deleted, ok := boolParam(w, r, "include_deleted")
	if !ok {
		return
	}
	want := r.PathValue("version")
	for _, e := range s.find(r.PathValue("name"), deleted) {
		if e.version == want || want == "latest" && e.latest {
			answer(w, http.StatusOK, "application/json", e.record())
			return
		}
	}
	problem(w, http.StatusNotFound, "Server not found")
}
