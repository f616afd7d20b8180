package mirror

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/registry"
)

// Query is a search in copies.
type Query struct {
	Words string
	// Registries are the URLs of the registries to search. The first that has a name wins.
	Registries []string
	// Type is a type of a package, or remote; "" is any.
	Type string
	// Limit is how many servers are returned at most.
	Limit int
}

// Hit is a server that was found.
type Hit struct {
	Record   registry.Record
	Registry string // its URL
	// Release is what [Mirror.KeepRelease] was told of a prerelease, nil for nothing.
	Release *registry.Record
}

// Result is what a search has found.
type Result struct {
	Hits []Hit // best first, each name once
	// Total counts the servers that match, up to a few hundred; More reports that there
	// are others.
	Total int
	More  bool
}

const (
	// ranked is how many matches are ordered; further ones are not looked at.
	ranked = 300
	// enough is how many matches by words make a search for parts of names needless.
	enough = 20
)

// Search ranks the servers of copies, also of those that are not complete: first those
// whose name is the query, then those that have all words, then those that have some.
// Words are compared by their stem. Among equal ones, servers whose name is of a verified
// domain come first. If few servers match, those come last in whose name each word is
// anywhere.
func (m *Mirror) Search(ctx context.Context, q Query) (*Result, error) {
	out := &Result{}
	err := m.file.Do(ctx, false, func(db *sql.DB) error {
		*out = Result{}
		sources, err := loadSources(ctx, db, q.Registries)
		if err != nil || len(sources) == 0 {
			return err
		}
		s := &searcher{ctx, db, q, sources, telling(q.Words)}
		found, err := s.matches()
		if err != nil {
			return err
		}
		out.Total, out.More = len(found), len(found) >= ranked
		for _, f := range found[:min(len(found), q.Limit)] {
			hit, err := s.hit(f)
			if err != nil {
				return err
			}
			out.Hits = append(out.Hits, *hit)
		}
		return nil
	})
	return out, err
}

// source is a registry that is searched.
type source struct {
	url   string
	order int // its precedence, 0 is first
}

// loadSources returns the registries of URLs that have a copy, by ID.
func loadSources(ctx context.Context, db *sql.DB, urls []string) (map[int64]source, error) {
	sources := map[int64]source{}
	for i, url := range urls {
		r, err := loadRow(ctx, db, url)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, twice := sources[r.id]; !twice {
			sources[r.id] = source{url, i}
		}
	}
	return sources, nil
}

// searcher is one Search.
type searcher struct {
	ctx     context.Context //nolint:containedctx // of one call
	db      *sql.DB
	q       Query
	sources map[int64]source
	words   []string
}

// match is a server that matches.
type match struct {
	id     int64
	url    string
	order  int // of its registry
	name   string
	title  string
	types  string
	tier   int
	score  int // in steps that are no tie
	domain bool
}

// tiers of a match.
const (
	tierName = iota // the name is the query
	tierAll
	tierSome
	tierPart // parts of the name
)

// matches returns what matches, best first, each name once.
func (s *searcher) matches() ([]match, error) {
	hits, err := index.Search(s.ctx, s.db, s.words, func(id int64) bool {
		_, ok := s.sources[id>>registryBits]
		return ok
	}, ranked)
	if err != nil {
		return nil, err
	}
	found := make([]match, len(hits))
	at := map[int64]*match{}
	for i, h := range hits {
		found[i] = match{id: h.ID, tier: tierSome, score: step(h.Score)}
		if h.Whole {
			found[i].tier = tierAll
		}
		at[h.ID] = &found[i]
	}
	if err := s.describe(at); err != nil {
		return nil, err
	}
	if len(found) < enough {
		parts, err := s.parts(at)
		if err != nil {
			return nil, err
		}
		found = append(found, parts...)
	}
	s.place(found)
	found = slices.DeleteFunc(found, func(f match) bool { return s.q.Type != "" && !strings.Contains(f.types, " "+s.q.Type+" ") })
	return s.unique(found)
}

// step rounds a score, so that what differs by a few percent is a tie.
func step(score float64) int {
	return int(math.Round(math.Log(math.Max(score, 1e-9)) / math.Log(1.05)))
}

// columns of a match, in the order of scan.
const columns = `SELECT id, name, title, types FROM servers WHERE `

func (s *searcher) query(where string, args ...any) (found []match, err error) {
	rows, err := s.db.QueryContext(s.ctx, columns+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var f match
		if err := rows.Scan(&f.id, &f.name, &f.title, &f.types); err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, rows.Err()
}

// describe fills in what the copy has of the matches.
func (s *searcher) describe(at map[int64]*match) error {
	if len(at) == 0 {
		return nil
	}
	ids := make([]any, 0, len(at))
	for id := range at {
		ids = append(ids, id)
	}
	rows, err := s.query(`id IN (?`+strings.Repeat(",?", len(ids)-1)+`)`, ids...)
	for _, f := range rows {
		f.tier, f.score = at[f.id].tier, at[f.id].score
		*at[f.id] = f
	}
	return err
}

// parts returns the servers that are not in known and have each word of the query in their
// name.
func (s *searcher) parts(known map[int64]*match) ([]match, error) {
	var where []string
	var args []any
	like := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	for w := range strings.FieldsSeq(s.q.Words) {
		// Everybody on GitHub has github in the name.
		where, args = append(where, `CASE WHEN name LIKE 'io.github.%' THEN substr(name, 11) ELSE name END LIKE ? ESCAPE '\'`), append(args, "%"+like.Replace(w)+"%")
	}
	if len(where) == 0 || len(where) > 20 {
		return nil, nil
	}
	rows, err := s.query(strings.Join(where, " AND ")+` LIMIT 1000`, args...)
	var found []match
	for _, f := range rows {
		_, ours := s.sources[f.id>>registryBits]
		if ours && known[f.id] == nil {
			f.tier = tierPart
			found = append(found, f)
		}
	}
	return found, err
}

// place orders matches, best first.
func (s *searcher) place(found []match) {
	query := strings.Join(s.words, "")
	for i := range found {
		f := &found[i]
		from := s.sources[f.id>>registryBits]
		f.url, f.order = from.url, from.order
		f.domain = registry.OfDomain(f.name)
		if f.isNamed(query) {
			f.tier, f.score = tierName, 0
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(b.score, a.score), -compareBool(a.domain, b.domain),
			cmp.Compare(a.order, b.order), strings.Compare(a.name, b.name))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// telling returns the words of a text in which GitHub is one word, without those that
// every server's name may have.
func telling(text string) []string {
	return search.Words(strings.ToLower(text), "mcp", "server", "servers")
}

// isNamed reports whether a query is the name of a server: the last part of it, the
// title, or the domain, without the words mcp and server.
func (f *match) isNamed(query string) bool {
	namespace, last := registry.SplitName(f.name)
	named := func(text string) bool { return strings.Join(telling(text), "") == query }
	return query != "" && (named(last) || named(f.title) || f.domain && named(namespace[strings.LastIndexByte(namespace, '.')+1:]))
}

// unique returns the matches without those whose name is in a registry of higher
// precedence, too.
func (s *searcher) unique(found []match) ([]match, error) {
	if len(s.sources) < 2 || len(found) == 0 {
		return found, nil
	}
	names := make([]any, len(found))
	for i, f := range found {
		names[i] = f.name
	}
	all, err := s.query(`name IN (?`+strings.Repeat(",?", len(names)-1)+`)`, names...)
	if err != nil {
		return nil, err
	}
	first := map[string]int{}
	for _, f := range all {
		from, ours := s.sources[f.id>>registryBits]
		if order, ok := first[f.name]; ours && (!ok || from.order < order) {
			first[f.name] = from.order
		}
	}
	return slices.DeleteFunc(found, func(f match) bool { return f.order != first[f.name] }), nil
}

func (s *searcher) hit(f match) (*Hit, error) {
	var record, release []byte
	if err := s.db.QueryRowContext(s.ctx, `SELECT record, release FROM servers WHERE id = ?`, f.id).Scan(&record, &release); err != nil {
		return nil, err
	}
	rec, err := unpack(record)
	if err != nil {
		return nil, err
	}
	hit := &Hit{Record: *rec, Registry: f.url}
	if release != nil {
		hit.Release, err = unpack(release)
	}
	return hit, err
}
