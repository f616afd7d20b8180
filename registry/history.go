package registry

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// History are the versions of one server, the newest first.
type History []Record

// History returns all versions of a server, also deleted ones if the registry still shows
// them. A server that does not exist is a [*NotFoundError].
func (c *Client) History(ctx context.Context, name string) (History, error) {
	body, err := c.get(ctx, "get "+name, "/servers/"+escapeName(name)+"/versions", url.Values{"include_deleted": {"true"}})
	var status *StatusError
	var recs []Record
	switch {
	case isMissing(err):
		recs, err = c.fromList(ctx, err, name, "")
	case errors.As(err, &status) && (status.Status == http.StatusBadRequest || status.Status == http.StatusUnprocessableEntity):
		recs, err = c.Versions(ctx, name) // it does not know the parameter
	case err == nil:
		var all Page
		if err = all.parse(body); err != nil {
			err = &Error{Op: "get " + name, Err: &runtime.ProtocolError{Reason: c.URL() + " does not answer like an MCP registry: " + err.Error(), Sample: sample(body)}}
		}
		recs = slices.DeleteFunc(all.Records, func(r Record) bool { return r.Server.Name != name })
	}
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		return nil, &NotFoundError{Name: name}
	}
	slices.SortStableFunc(recs, func(a, b Record) int { return -a.compareRecords(&b) })
	return recs, nil
}

// compareRecords orders the versions of a server: by version, and where that says nothing,
// by the time of publication.
func (a *Record) compareRecords(b *Record) int {
	if c := CompareVersions(a.Server.Version, b.Server.Version); c != 0 {
		return c
	}
	x, errX := time.Parse(time.RFC3339, a.Meta.PublishedAt)
	y, errY := time.Parse(time.RFC3339, b.Meta.PublishedAt)
	if errX != nil || errY != nil {
		return strings.Compare(a.Meta.PublishedAt, b.Meta.PublishedAt)
	}
	return x.Compare(y)
}

// Find returns a version, nil if it is not there.
func (h History) Find(version string) *Record {
	for i := range h {
		if h[i].Server.Version == version {
			return &h[i]
		}
	}
	return nil
}

// Latest returns the version that the registry calls latest, or the highest where it marks
// none; nil if all are deleted.
func (h History) Latest() *Record {
	left := slices.DeleteFunc(slices.Clone(h), func(r Record) bool { return r.Meta.Status == Deleted })
	return newest(left)
}

// Choice returns the version that add would take: the latest, or unless pre is set the
// highest active release if the latest is a prerelease. It is nil if all are deleted.
func (h History) Choice(pre bool) *Record {
	latest := h.Latest()
	if latest == nil || pre || !IsPrerelease(latest.Server.Version) {
		return latest
	}
	for i := range h {
		if _, semantic := parseVersion(h[i].Server.Version); semantic && !IsPrerelease(h[i].Server.Version) && h[i].Meta.Status == Active {
			return &h[i]
		}
	}
	return latest
}

// Newer reports whether one record of a server is a newer version than another.
func Newer(a, b *Record) bool {
	return a.Server.Version != b.Server.Version && a.compareRecords(b) > 0
}
