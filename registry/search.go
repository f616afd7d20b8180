package registry

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// minSearch is the shortest text a registry searches for (API v0.1, search).
const minSearch = 3

// maxAsked bounds the requests of one search whose first words match nothing.
const maxAsked = 3

// Search returns the newest versions of the servers with every word in name, title
// or description, best match first: the whole last part of the name, a piece of it,
// title, description, namespace; then by name.
//
// Registries search only names, for one text without spaces, so the longest word is
// requested and the rest is filtered here. If that word matches nothing, the next
// longest is requested, three in all. Words that are all shorter than three letters
// are a [*UsageError]; no request is made.
func (c *Client) Search(ctx context.Context, query string) (*List, error) {
	words := strings.Fields(strings.ToLower(query))
	ask := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return utf8.RuneCountInString(w) < minSearch })
	if len(ask) == 0 {
		return nil, &UsageError{Reason: "search: a word of three letters or more is needed"}
	}
	slices.SortStableFunc(ask, func(a, b string) int {
		return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a))
	})
	ask = slices.Compact(ask)
	out := &List{}
	for _, word := range ask[:min(len(ask), maxAsked)] {
		l, err := c.List(ctx, Query{Search: word, Version: "latest"})
		if err != nil {
			return nil, err
		}
		out.Records = rank(latestOnly(l.Records), words)
		out.Truncated = out.Truncated || l.Truncated
		out.Skipped += l.Skipped
		if len(out.Records) > 0 {
			break
		}
	}
	return out, nil
}

// latestOnly keeps one record per name. Registries without version=latest return
// all versions, and shifting pages repeat records.
func latestOnly(recs []Record) []Record {
	byName := map[string][]Record{}
	var names []string
	for _, r := range recs {
		if r.Meta.Status == Deleted {
			continue
		}
		if byName[r.Server.Name] == nil {
			names = append(names, r.Server.Name)
		}
		byName[r.Server.Name] = append(byName[r.Server.Name], r)
	}
	out := make([]Record, 0, len(names))
	for _, n := range names {
		out = append(out, *newest(byName[n]))
	}
	return out
}

// rank keeps the records with every word and sorts them.
func rank(recs []Record, words []string) []Record {
	type scored struct {
		rec   Record
		score int
	}
	var found []scored
	for _, r := range recs {
		if s, ok := r.Server.score(words); ok {
			found = append(found, scored{r, s})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score),
			strings.Compare(strings.ToLower(a.rec.Server.Name), strings.ToLower(b.rec.Server.Name)),
			strings.Compare(a.rec.Server.Name, b.rec.Server.Name))
	})
	out := make([]Record, len(found))
	for i, k := range found {
		out[i] = k.rec
	}
	return out
}

// score returns a record's distance from a query: 0 where the last part of the name
// is the query, else the sum over the words of where each is found first.
func (s *Server) score(words []string) (int, bool) {
	namespace, last := SplitName(strings.ToLower(s.Name))
	plain := strings.NewReplacer("-", "", "_", "", ".", "").Replace
	if plain(last) == plain(strings.Join(words, "")) {
		return 0, true
	}
	title, description := strings.ToLower(s.Title), strings.ToLower(s.Description)
	sum := 0
	for _, w := range words {
		switch {
		case strings.Contains(last, w):
			sum++
		case strings.Contains(title, w):
			sum += 2
		case strings.Contains(description, w):
			sum += 3
		case strings.Contains(namespace, w), strings.Contains(namespace+"/"+last, w):
			sum += 4
		default:
			return 0, false
		}
	}
	return sum, true
}

// SplitName returns namespace and last part of a server's name; the namespace is
// "" where there is no slash.
func SplitName(name string) (namespace, last string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// OfDomain reports whether a server's name is of a domain that its publisher has proved
// to own, as com.example/thing. Names of a GitHub user or organisation, anonymous ones
// and those without a namespace are not.
func OfDomain(name string) bool {
	namespace, _ := SplitName(name)
	return strings.Contains(namespace, ".") && !strings.HasPrefix(namespace, "io.github.") && namespace != "io.modelcontextprotocol.anonymous"
}
