package find

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/search"
)

// Ranked is a tool that was found, and how well it matches.
type Ranked struct {
	Hit
	// Score is greater for a better match. Scores of two searches cannot be compared.
	Score float64 `json:"score"`
}

// Phrasings returns the phrasings in the words of a command line: each text of several
// words is one, and the single words are one together.
func Phrasings(words []string) (out []string) {
	var single []string
	for _, w := range words {
		if strings.ContainsAny(strings.TrimSpace(w), " \t\n") {
			out = append(out, w)
		} else {
			single = append(single, w)
		}
	}
	if len(single) > 0 {
		out = append([]string{strings.Join(single, " ")}, out...)
	}
	return out
}

// patience is how long texts are read by a model before tools are searched that it has not
// read yet. What it has read is kept.
const patience = 10 * time.Second

// Rank returns the tools that match phrasings best, limit at most and those that are named.
func (e *Engine) Rank(ctx context.Context, lists []List, phrasings []string, limit int) []Ranked {
	hits := map[string]map[string]Hit{}
	for _, l := range lists {
		hits[l.Server] = map[string]Hit{}
		var docs []search.Doc
		for _, raw := range l.Items {
			hit, _, ok := read(l.Server, raw)
			d, isTool := search.OfTool(l.Server, raw)
			if _, twice := hits[l.Server][hit.Name]; ok && isTool && !twice {
				hits[l.Server][hit.Name] = hit
				docs = append(docs, d)
			}
		}
		e.Build(l.Server, docs)
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	e.Wait(waiting)
	cancel()
	out := []Ranked{}
	for _, f := range e.Search(ctx, search.Query{Phrasings: phrasings, Limit: limit}, nil) {
		out = append(out, Ranked{hits[f.Group][f.Name], math.Round(f.Score*1000) / 1000})
	}
	return out
}
