// Package search ranks short documents for a few words. [Index] is a full-text index of
// SQLite (FTS5) in a database that the caller opens, for as many documents as a registry
// has. [Engine] is one in memory, for the tools of servers, which knows words that mean
// nearly the same ([Vocabulary]) and weighs each word by the best of them that a document
// has. FTS5 ranks by the words themselves alone. In 20,000 tools it takes 2.7 times as long
// for them (p50) as Engine takes with all that may stand for them.
//
// Names are split into words before they are stored and before they are searched
// for ([Split], [Words]), and words are compared by their stem. No text of a query is
// read as a query of FTS5.
package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
)

// Doc is what is searched of one thing. A word counts more in Group and Name than in
// Text, and least in Params.
type Doc struct {
	// Group is what it belongs to: the namespace of a server's name, the server of a tool.
	Group string
	Name  string
	// Text is its title and description.
	Text string
	// Params are names of arguments and the values that they may have.
	Params string
	// Definition is that of a tool, from which an [Engine] reads Text and Params when it
	// indexes the document; nil where these are set.
	Definition json.RawMessage
}

// Index is a full-text index in a database.
type Index struct {
	// Table is the name of its table, which is part of SQL statements.
	Table string
}

// Schema returns the statements that create the table. The texts of documents are not
// stored, only their words.
func (x Index) Schema() string {
	return fmt.Sprintf(`CREATE VIRTUAL TABLE %[1]s USING fts5(grp, name, text, params,
		content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
	INSERT INTO %[1]s (%[1]s, rank) VALUES ('rank', 'bm25(4.0, 4.0, 2.0, 1.0)');`, x.Table)
}

// Execer executes statements: a *sql.DB, *sql.Conn or *sql.Tx.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Queryer queries: a *sql.DB, *sql.Conn or *sql.Tx.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Put adds a document under an ID, in the place of the one that is there.
func (x Index) Put(ctx context.Context, e Execer, id int64, d Doc) error {
	words := func(text string) string { return strings.Join(Split(text), " ") }
	_, err := e.ExecContext(ctx, `INSERT OR REPLACE INTO `+x.Table+` (rowid, grp, name, text, params) VALUES (?, ?, ?, ?, ?)`,
		id, words(d.Group), words(d.Name), words(d.Text), words(d.Params))
	return err
}

// Remove removes a document. One that is not there is no error.
func (x Index) Remove(ctx context.Context, e Execer, id int64) error {
	_, err := e.ExecContext(ctx, `DELETE FROM `+x.Table+` WHERE rowid = ?`, id)
	return err
}

// Hit is a document that was found.
type Hit struct {
	ID int64
	// Whole says that it has all words of the query.
	Whole bool
	// Score is greater for a better match. Scores of two searches cannot be compared.
	Score float64
}

// Search returns the documents that have all the words, best first, and after them those
// that have some, most of them at most. Words come from [Words]. keep says which
// documents count, by ID; nil is all.
func (x Index) Search(ctx context.Context, q Queryer, words []string, keep func(id int64) bool, most int) ([]Hit, error) {
	if len(words) == 0 {
		return nil, nil
	}
	found := map[int64]bool{}
	var hits []Hit
	for _, operator := range []string{" AND ", " OR "} {
		err := x.match(ctx, q, expression(words, operator), func(h Hit) (more bool) {
			if found[h.ID] || keep != nil && !keep(h.ID) {
				return true
			}
			found[h.ID], h.Whole = true, operator == " AND "
			hits = append(hits, h)
			return len(hits) < most
		})
		if err != nil || len(words) == 1 || len(hits) >= most {
			return hits, err
		}
	}
	return hits, nil
}

// match calls take with the documents for an expression of FTS5, best first, while it
// wants more.
func (x Index) match(ctx context.Context, q Queryer, expression string, take func(Hit) (more bool)) error {
	rows, err := q.QueryContext(ctx, `SELECT rowid, -rank FROM `+x.Table+` WHERE `+x.Table+` MATCH ? ORDER BY rank`, expression)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var h Hit
		if err := rows.Scan(&h.ID, &h.Score); err != nil {
			return err
		}
		if !take(h) {
			return nil
		}
	}
	return rows.Err()
}

// expression joins words, each a quoted text of FTS5.
func expression(words []string, operator string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
	}
	return strings.Join(quoted, operator)
}
