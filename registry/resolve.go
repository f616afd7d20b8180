package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Resolution is the record that a NAME[@VERSION] refers to.
type Resolution struct {
	Record Record
	// Latest is the version that the registry calls latest, "" if unknown.
	Latest string
	// Notes explain the choice to the user, one sentence each.
	Notes []string
}

// AmbiguousError says that several servers have a short name.
type AmbiguousError struct {
	Name  string
	Found []Record
}

// Error counts and names the candidates.
func (e *AmbiguousError) Error() string {
	names := make([]string, len(e.Found))
	for i, r := range e.Found {
		names[i] = r.Server.Name
	}
	return fmt.Sprintf("%s is ambiguous, %d servers end in it: %s", e.Name, len(names), strings.Join(names, ", "))
}

// Hint says how to choose.
func (e *AmbiguousError) Hint() string {
	return "give the whole name, such as " + e.Found[0].Server.Name
}

// ExitKind makes it a usage error of the command line.
func (e *AmbiguousError) ExitKind() string { return "usage" }

// DeletedError says that a version was deleted.
type DeletedError struct {
	Name, Version, Message string
}

// Error names the version and the publisher's reason.
func (e *DeletedError) Error() string {
	s := fmt.Sprintf("%s %s was deleted from the registry", e.Name, e.Version)
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// SplitVersion splits NAME[@VERSION] at the last @ behind the slash. A leading
// @ of a name without a slash is part of the name.
func SplitVersion(arg string) (name, version string) {
	from := strings.LastIndexByte(arg, '/') + 1
	if i := strings.LastIndexByte(arg[from:], '@'); i > 0 {
		return arg[:from+i], arg[from+i+1:]
	}
	return arg, ""
}

// Resolve returns the record of NAME[@VERSION].
//
// A name without a slash matches the last parts of names, letter case ignored:
// several are an [*AmbiguousError], none a [*NotFoundError] with near names. Without
// a version the newest is chosen, or, unless pre is set, the highest active release
// if the newest is a prerelease. A deleted version is a [*DeletedError].
func (c *Client) Resolve(ctx context.Context, arg string, pre bool) (*Resolution, error) {
	name, version := SplitVersion(arg)
	if name == "" {
		return nil, &UsageError{Reason: "a server name is missing"}
	}
	if !strings.Contains(name, "/") {
		full, err := c.byLastPart(ctx, name)
		if err != nil {
			return nil, err
		}
		name = full
	}
	if version == "latest" {
		version = ""
	}
	rec, err := c.Get(ctx, name, version)
	if err != nil {
		return nil, c.explainMissing(ctx, err, name, version)
	}
	if rec.Server.Name != name {
		return nil, &NotFoundError{Name: name, Version: version}
	}
	res := &Resolution{Record: *rec}
	switch {
	case rec.Meta.Status == Deleted:
		return nil, &DeletedError{Name: name, Version: rec.Server.Version, Message: rec.Meta.StatusMessage}
	case version != "":
		c.noteLatest(ctx, res)
	default:
		res.Latest = rec.Server.Version
		if pre {
			break
		}
		if res.Record, err = c.Release(ctx, *rec); err != nil {
			return nil, err
		}
		if v := res.Record.Server.Version; v != res.Latest {
			res.Notes = append(res.Notes, fmt.Sprintf("the latest version %s is a prerelease, so %s is used; --pre takes the prerelease", res.Latest, v))
		}
	}
	if m := res.Record.Meta; m.Status == Deprecated {
		res.Notes = append(res.Notes, strings.TrimSuffix(fmt.Sprintf("%s %s is deprecated: %s", name, res.Record.Server.Version, m.StatusMessage), ": "))
	}
	return res, nil
}

// noteLatest adds a note if a newer version exists. Errors are ignored.
func (c *Client) noteLatest(ctx context.Context, res *Resolution) {
	if m := res.Record.Meta; m.Marked && m.Latest {
		res.Latest = res.Record.Server.Version
		return
	}
	latest, err := c.Get(ctx, res.Record.Server.Name, "")
	if err != nil {
		c.o.Logger.Debug("latest version not found", "server", res.Record.Server.Name, "err", err)
		return
	}
	res.Latest = latest.Server.Version
	if res.Latest != res.Record.Server.Version {
		res.Notes = append(res.Notes, fmt.Sprintf("version %s is not the latest; that is %s", res.Record.Server.Version, res.Latest))
	}
}

// Release returns the highest active release of a server whose record is a
// prerelease, otherwise the record itself, also if there is no release.
func (c *Client) Release(ctx context.Context, rec Record) (Record, error) {
	if !IsPrerelease(rec.Server.Version) {
		return rec, nil
	}
	all, err := c.Versions(ctx, rec.Server.Name)
	if _, ok := errors.AsType[*NotFoundError](err); ok {
		return rec, nil
	}
	if err != nil {
		return rec, err
	}
	stable := slices.DeleteFunc(all, func(r Record) bool {
		_, semantic := parseVersion(r.Server.Version)
		return !semantic || IsPrerelease(r.Server.Version) || r.Meta.Status != Active
	})
	if len(stable) == 0 {
		return rec, nil
	}
	return slices.MaxFunc(stable, func(a, b Record) int { return CompareVersions(a.Server.Version, b.Server.Version) }), nil
}

// byLastPart returns the whole name of the one server whose last part is short.
func (c *Client) byLastPart(ctx context.Context, short string) (string, error) {
	if utf8.RuneCountInString(short) < minSearch {
		return "", &UsageError{Reason: short + ": a name without a namespace needs three letters or more"}
	}
	l, err := c.List(ctx, Query{Search: short, Version: "latest"})
	if err != nil {
		return "", err
	}
	all := latestOnly(l.Records)
	var found []Record
	for _, r := range all {
		if _, last := SplitName(r.Server.Name); strings.EqualFold(last, short) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return "", &NotFoundError{Name: short, Near: c.near(ctx, short, all)}
	case 1:
		return found[0].Server.Name, nil
	}
	slices.SortStableFunc(found, func(a, b Record) int { return strings.Compare(a.Server.Name, b.Server.Name) })
	return "", &AmbiguousError{Name: short, Found: found}
}

// explainMissing finds out whether a missing server was deleted, and adds near
// names if it was not. Other errors are ignored: the missing server is what to
// report.
func (c *Client) explainMissing(ctx context.Context, err error, name, version string) error {
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		return err
	}
	version = cmp.Or(version, "latest")
	gone, gerr := c.fetch(ctx, name, version, url.Values{"include_deleted": {"true"}})
	if gerr == nil && gone.Meta.Status == Deleted {
		return &DeletedError{Name: name, Version: gone.Server.Version, Message: gone.Meta.StatusMessage}
	}
	if missing.Version == "" {
		_, last := SplitName(missing.Name)
		missing.Near = c.near(ctx, last, nil)
	}
	return err
}

// near returns up to five names that resemble a missing one: of known records, else
// of a search for its longest piece.
func (c *Client) near(ctx context.Context, last string, known []Record) []string {
	last = strings.ToLower(last)
	recs := rank(known, []string{last})
	if len(recs) == 0 {
		pieces := strings.FieldsFunc(last, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
		pieces = slices.DeleteFunc(pieces, func(p string) bool { return p == "mcp" || p == "server" || len(p) < minSearch })
		if len(pieces) == 0 {
			return nil
		}
		longest := slices.MaxFunc(pieces, func(a, b string) int { return len(a) - len(b) })
		l, err := c.Search(ctx, longest)
		if err != nil {
			return nil
		}
		recs = l.Records
	}
	var names []string
	for _, r := range recs[:min(len(recs), 5)] {
		names = append(names, r.Server.Name)
	}
	return names
}
