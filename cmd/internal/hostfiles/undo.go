package hostfiles

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
)

// Undo takes back everything that was written to the file of a host.
func (ex *Export) Undo(ctx context.Context, name string) error {
	l, err := ex.location(name, ex.Project)
	if err != nil {
		return err
	}
	var left []string
	gone, exact := false, false
	edit := func(f *hosts.File, _ bool) (*hosts.File, error) {
		led, err := hosts.OpenLedger(ex.StateDir)
		if err != nil {
			return nil, err
		}
		w := led.Files[l.Key()]
		if w == nil {
			return nil, ui.Usage("nothing was written to %s", ex.short(l.Path)).WithHint("%s", ex.elsewhere(led, name))
		}
		text, ok, err := led.Original(w, f.Bytes())
		if err != nil {
			return nil, err
		}
		if exact = ok; !ok {
			if f, left, err = w.Revert(f); err != nil {
				return nil, &hosts.FileError{Path: l.Path, Err: err}
			}
		} else if gone = text == nil; !gone {
			if f, err = l.Read(text); err != nil {
				return nil, err
			}
		}
		if ex.DryRun {
			return nil, errDry
		}
		led.Forget(l)
		if gone {
			if err := os.Remove(l.Path); err != nil {
				return nil, err
			}
			return nil, led.Save()
		}
		if err := l.Write(f.Bytes()); err != nil {
			return nil, err
		}
		return nil, led.Save()
	}
	if err := hosts.Update(ctx, l, hosts.LockDir(ex.StateDir), edit); err != nil && !errors.Is(err, errDry) {
		return err
	}
	for _, entry := range left {
		ex.UI.Info("warning: %s has changed since it was written, and stays", entry)
	}
	if ex.UI.WantJSON() {
		return ex.UI.EncodeJSON(map[string]any{"host": name, "file": l.Path, "removed": gone, "left": append([]string{}, left...)})
	}
	what := "is as it was before the export"
	switch {
	case ex.DryRun:
		what = "would be as it was before the export"
	case gone:
		what = "is gone: there was none before the export"
	case !exact:
		what = "has no more of what was exported; other changes stay"
	}
	_, err = fmt.Fprintf(ex.UI.Out, "%s %s\n", ex.short(l.Path), what)
	return err
}

// elsewhere returns the command that takes back what was written to the other file of a host,
// of the user or of the project, or else the one that writes to this one.
func (ex *Export) elsewhere(led *hosts.Ledger, name string) string {
	if other, err := ex.location(name, !ex.Project); err == nil && led.Files[other.Key()] != nil {
		return ex.undo(name, !ex.Project)
	}
	return "mcpctl export " + name
}
