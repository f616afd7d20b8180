package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// Query narrows a list. The zero value asks for everything.
type Query struct {
	// Search is a part of a name, of three characters or more; "" is any.
	Search string
	// Version is "latest", an exact version, or "" for all versions.
	Version string
	// IncludeDeleted includes deleted versions.
	IncludeDeleted bool
	// UpdatedSince, unless zero, asks for what has changed later, deleted versions
	// included.
	UpdatedSince time.Time
}

// Page is one page of a list.
type Page struct {
	Records []Record
	// Skipped counts items that were not records.
	Skipped int
	// Next is the cursor of the next page, "" for none. It may be one that was there
	// before.
	Next string
	// ETag is the tag of this answer, "" for none. Unchanged says that the answer with
	// the given tag still holds; there are no records then.
	ETag      string
	Unchanged bool
	// Date is the registry's time, or this machine's if the answer has none.
	Date time.Time
}

// List is a list of records.
type List struct {
	Records []Record
	// Truncated reports that there were more pages than the client reads.
	Truncated bool
	// Skipped counts items that were not records.
	Skipped int
}

// pageSize is the API's largest page.
const pageSize = 100

const listPath = "/servers"

// maxItems bounds the servers of one answer: a static list has all of them. Decoded, a
// server takes many times the bytes of its shortest document.
const maxItems = 100_000

// maxCursor bounds a cursor, in bytes: it becomes a part of a URL, and is remembered.
const maxCursor = 8 << 10

// List reads all pages of a list, in the registry's order. It stops, with
// Truncated set, at [Options.MaxPages], and silently at a repeated cursor: static
// registries have only one page. The caller filters: not every registry does.
func (c *Client) List(ctx context.Context, q Query) (*List, error) {
	out := &List{}
	cursor, seen := "", map[string]bool{"": true}
	for page := 0; ; page++ {
		p, err := c.Page(ctx, q, cursor, "")
		if err != nil {
			return nil, err
		}
		out.Records = append(out.Records, p.Records...)
		out.Skipped += p.Skipped
		if seen[p.Next] {
			return out, nil
		}
		seen[p.Next], cursor = true, p.Next
		if page+1 == c.o.MaxPages {
			out.Truncated = true
			return out, nil
		}
	}
}

// Page reads the page of a list at a cursor, "" for the first. With the tag of an
// earlier answer the page may be Unchanged.
func (c *Client) Page(ctx context.Context, q Query, cursor, etag string) (*Page, error) {
	v := url.Values{"limit": {strconv.Itoa(pageSize)}}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("search", q.Search)
	set("version", q.Version)
	set("cursor", cursor)
	if q.IncludeDeleted {
		v.Set("include_deleted", "true")
	}
	if !q.UpdatedSince.IsZero() {
		v.Set("updated_since", q.UpdatedSince.UTC().Format(time.RFC3339))
	}
	r, err := c.getUnless(ctx, "list", listPath, v, etag)
	if err != nil {
		var status *StatusError
		if errors.As(err, &status) && status.Status == http.StatusNotFound {
			return nil, &Error{
				Op: "list", Remedy: "check --registry or MCPCTL_REGISTRY",
				Err: fmt.Errorf("%w: %w", &runtime.ProtocolError{Reason: "no MCP registry at " + c.URL()}, status),
			}
		}
		return nil, err
	}
	p := &Page{ETag: r.header.Get("ETag"), Unchanged: r.unchanged, Date: time.Now()}
	if date, err := http.ParseTime(r.header.Get("Date")); err == nil {
		p.Date = date
	}
	if r.unchanged {
		return p, nil
	}
	if err := p.parse(r.body); err != nil {
		return nil, &Error{Op: "list", Err: &runtime.ProtocolError{Reason: c.URL() + " does not answer like an MCP registry: " + err.Error(), Sample: sample(r.body)}}
	}
	return p, nil
}

// parse reads the records and the next cursor. A page is an object with a member
// servers, which may be null, or the bare array.
func (p *Page) parse(body json.RawMessage) error {
	var items []json.RawMessage
	switch trimmed := bytes.TrimSpace(body); {
	case bytes.HasPrefix(trimmed, []byte("[")):
		if err := json.Unmarshal(body, &items); err != nil {
			return err
		}
	case bytes.HasPrefix(trimmed, []byte("{")):
		var page object
		if err := json.Unmarshal(body, &page); err != nil {
			return err
		}
		if _, ok := page["servers"]; !ok {
			return errors.New("no member servers")
		}
		if raw := page.get("servers"); raw != nil && json.Unmarshal(raw, &items) != nil {
			return errors.New("servers is not a list")
		}
		var meta object
		if json.Unmarshal(page["metadata"], &meta) == nil {
			p.Next = (&decoder{}).text(meta, "", "nextCursor")
		}
		if len(p.Next) > maxCursor {
			return fmt.Errorf("nextCursor has more than %d bytes", maxCursor)
		}
	default:
		return errors.New("not a list of servers")
	}
	if len(items) > maxItems {
		return fmt.Errorf("one answer has more than %d servers", maxItems)
	}
	for _, raw := range items {
		rec, err := ParseRecord(raw)
		if err != nil {
			p.Skipped++
			continue
		}
		p.Records = append(p.Records, *rec)
	}
	if p.Skipped > 0 && p.Skipped == len(items) {
		return errors.New("servers holds no server documents")
	}
	return nil
}

// Versions returns all versions of a server, newest publication first. Deleted
// ones are left out. A server that does not exist is a [*NotFoundError].
func (c *Client) Versions(ctx context.Context, name string) ([]Record, error) {
	body, err := c.get(ctx, "get "+name, "/servers/"+escapeName(name)+"/versions", nil)
	if err != nil {
		if isMissing(err) {
			return c.fromList(ctx, err, name, "")
		}
		return nil, err
	}
	p := &Page{}
	if err := p.parse(body); err != nil {
		return nil, &Error{Op: "get " + name, Err: &runtime.ProtocolError{Reason: err.Error(), Sample: sample(body)}}
	}
	recs := exactly(p.Records, name, "")
	if len(recs) == 0 {
		return nil, &NotFoundError{Name: name}
	}
	return recs, nil
}

// Get returns one version of a server; version "" or "latest" is the one the
// registry calls latest. A missing one is a [*NotFoundError].
func (c *Client) Get(ctx context.Context, name, version string) (*Record, error) {
	version = cmp.Or(version, "latest")
	rec, err := c.fetch(ctx, name, version, nil)
	if err == nil || !isMissing(err) {
		return rec, err
	}
	recs, err := c.fromList(ctx, err, name, version)
	if err != nil {
		return nil, err
	}
	return newest(recs), nil
}

func (c *Client) fetch(ctx context.Context, name, version string, q url.Values) (*Record, error) {
	body, err := c.get(ctx, "get "+name, "/servers/"+escapeName(name)+"/versions/"+escapeName(version), q)
	if err != nil {
		return nil, err
	}
	rec, err := ParseRecord(body)
	if err != nil {
		return nil, &Error{Op: "get " + name, Err: &runtime.ProtocolError{Reason: c.URL() + " does not answer like an MCP registry: " + err.Error(), Sample: sample(body)}}
	}
	// The requested version is pinned, so the answer must be that one.
	if got := rec.Server; !strings.EqualFold(got.Name, name) || version != "latest" && got.Version != version {
		return nil, &Error{Op: "get " + name, Err: &runtime.ProtocolError{Reason: fmt.Sprintf("%s answers with %s %s for %s %s", c.URL(), got.Name, got.Version, name, version)}}
	}
	return rec, nil
}

// isMissing reports whether an error is a 404, of a registry or of a file server.
func isMissing(err error) bool {
	var status *StatusError
	return errors.Is(err, errNotJSON404) || errors.As(err, &status) && status.Status == http.StatusNotFound
}

// notFound is the message of the public registry's code for a missing server. With
// it a 404 is final; others may come from a registry that has only a list.
const notFound = "Server not found"

// fromList finds a server in the list after a 404.
func (c *Client) fromList(ctx context.Context, missing error, name, version string) ([]Record, error) {
	want := version
	if want == "latest" {
		want = ""
	}
	var status *StatusError
	if errors.As(missing, &status) && status.Detail == notFound {
		return nil, &NotFoundError{Name: name, Version: want}
	}
	q := Query{Search: name}
	if len([]rune(name)) < minSearch {
		q.Search = ""
	}
	if version == "latest" {
		q.Version = "latest"
	}
	l, err := c.List(ctx, q)
	if err != nil {
		return nil, err
	}
	recs := exactly(l.Records, name, want)
	if len(recs) == 0 {
		return nil, &NotFoundError{Name: name, Version: want}
	}
	return recs, nil
}

func exactly(recs []Record, name, version string) []Record {
	var out []Record
	for _, r := range recs {
		if r.Server.Name == name && (version == "" || r.Server.Version == version) && r.Meta.Status != Deleted {
			out = append(out, r)
		}
	}
	return out
}

// newest returns the record marked latest, else the highest version; among equal
// ones the later published.
func newest(recs []Record) *Record {
	var best *Record
	for i := range recs {
		r := &recs[i]
		if r.Meta.Marked && r.Meta.Latest {
			return r
		}
		if best == nil {
			best = r
			continue
		}
		c := CompareVersions(r.Server.Version, best.Server.Version)
		if c > 0 || c == 0 && r.Meta.PublishedAt > best.Meta.PublishedAt {
			best = r
		}
	}
	return best
}

// escapeName percent-encodes a path segment, the slash included: a bare slash
// is a 404 for "endpoint", not "server".
func escapeName(s string) string { return url.PathEscape(s) }
