package gateway

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/views"
)

// knownView returns the error for the name of a view that config.yaml does not have.
func knownView(set *views.Set, name string) error {
	names := set.Names()
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	remedy := "serve.views of config.yaml has none"
	if len(names) > 0 {
		remedy = "serve.views of config.yaml has " + strings.Join(names, ", ")
	}
	return &ui.Error{Kind: "config", Err: fmt.Errorf("there is no view %q", name), Remedy: remedy}
}

// followViews takes over the views that config.yaml has now, given its text. What it said before
// stays if they cannot be used.
func (r *reloading) followViews(text []byte) {
	if bytes.Equal(text, r.views.text) {
		return
	}
	r.views.text = text
	h := r.g.h
	set, err := settings.Views(h.Settings.File())
	if err != nil {
		h.Log.Warn("the views cannot be used: what they said before stays", ui.Attrs(err)...)
		return
	}
	if set == nil && r.views.none {
		return
	}
	r.views.none = set == nil
	r.g.proxy.SetViews(set)
	h.Log.Info("views read", "views", len(set.Names()))
}
