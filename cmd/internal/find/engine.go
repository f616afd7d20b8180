package find

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/internal/store"
)

// Options are what engines are made from.
type Options struct {
	Settings settings.Search
	// StateDir is where vectors are kept; "" keeps none.
	StateDir string
	// Getenv is os.Getenv or like it: headers of the endpoint have variables.
	Getenv func(string) string
	Log    *slog.Logger
}

// Engine is an engine for tools as the settings want it.
type Engine struct {
	*search.Engine
	// Meaning are the vectors of an endpoint, nil without one.
	Meaning *search.EmbeddingIndex
	db      *store.DB
}

// New returns an engine without tools. Its error is of the settings: a vocabulary that
// cannot be read, or a variable without a value.
func New(o Options) (*Engine, error) {
	words, err := o.Settings.Words()
	if err != nil {
		return nil, err
	}
	e := &Engine{Engine: &search.Engine{Vocabulary: words}}
	from := o.Settings.Embeddings
	if from == nil {
		return e, nil
	}
	c := search.EmbeddingConfig{URL: from.URL, Model: from.Model, Dimensions: from.Dimensions, Timeout: from.Timeout, Batch: from.Batch}
	if c.Headers, err = settings.ExpandHeaders("serve.search.embeddings", from.Headers, o.Getenv); err != nil {
		return nil, err
	}
	if o.StateDir != "" {
		e.db = store.Open(filepath.Join(o.StateDir, "mcpctl.db"), store.Options{Logger: o.Log})
		c.Cache = e.db.Vectors()
	}
	e.Meaning = search.NewEmbeddings(c)
	e.Meanings = e.Meaning
	return e, nil
}

// Close ends the work in the background.
func (e *Engine) Close() {
	if e.Meaning != nil {
		e.Meaning.Close()
	}
	if e.db != nil {
		_ = e.db.Close() // every write is on disk
	}
}

// Wait waits until tools can be found as well as they will be.
func (e *Engine) Wait(ctx context.Context) {
	e.Engine.Wait(ctx)
	if e.Meaning != nil {
		e.Meaning.Wait(ctx)
	}
}

// Warn says why tools were found by words alone that could be found by what they mean.
func (e *Engine) Warn(u *ui.UI) {
	if e.Meaning == nil {
		return
	}
	switch s := e.Meaning.Status(); {
	case s.Last != "":
		u.Info("%s: %s; tools are found by their words", ui.CleanLine(s.Model), ui.CleanLine(s.Last))
	case s.Missing > 0:
		u.Info("%s: %d of %d tools are read; the others are found by their words", ui.CleanLine(s.Model), s.Known, s.Known+s.Missing)
	}
}
