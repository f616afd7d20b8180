package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// fixes is what config validate --fix has mended.
type fixes struct {
	File    string             `json:"file"`
	Changes []configedit.Fixed `json:"changes"`
	// Backup is the file as it was, "" if nothing was written.
	Backup string `json:"backup,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"`
}

// backupEnd is what the name of the file as it was ends in.
const backupEnd = ".bak"

// fix mends what is safe to mend.
func (p *ConfigCommand) fix(o ValidateOptions) (*fixes, error) {
	target, err := NewTarget(p.UI, p.Getenv, p.Settings, o.Project)
	if err != nil {
		return nil, err
	}
	out := &fixes{File: target.Path, Changes: []configedit.Fixed{}, DryRun: o.DryRun}
	if f, err := config.Load(target.Path); err == nil && f.Missing() {
		return out, nil
	}
	if target.Layer == layers.Project && !o.DryRun {
		if err := layers.Inside(layers.ProjectDir(target.Path), target.Path); err != nil {
			return nil, err
		}
	}
	err = configedit.UpdateText(target.Path, func(before []byte) ([]byte, error) {
		after, changes, err := configedit.Fix(target.Path, before)
		if bad, ok := errors.AsType[*config.Problem](err); ok && bad.Line > 0 {
			return before, nil // validate says what it is
		}
		if err != nil {
			return nil, err
		}
		out.Changes = append(out.Changes, changes...)
		if o.DryRun || bytes.Equal(before, after) {
			return before, nil
		}
		out.Backup = target.Path + backupEnd
		// A link would be followed, and may be by whoever wrote a project's folder.
		if info, err := os.Lstat(out.Backup); err == nil && !info.Mode().IsRegular() {
			return nil, &config.Problem{File: out.Backup, Message: "it is not a regular file", Remedy: "move it away: the file as it was goes there"}
		}
		return after, atomicfile.Write(out.Backup, before, 0o600)
	})
	return out, err
}

// print says what was mended.
func (f *fixes) print(u *ui.UI) error {
	if f == nil {
		return nil
	}
	verb := "fixed"
	if f.DryRun {
		verb = "would fix"
	}
	for _, c := range f.Changes {
		if _, err := io.WriteString(u.Out, ui.Clean(fmt.Sprintf("%s: %s:%d:%d: %s\n", verb, f.File, c.Line, c.Column, c.Message))); err != nil {
			return err
		}
	}
	switch {
	case f.Backup != "":
		u.Info("%s fixed; the file as it was is %s", plain.Count(len(f.Changes), "fault"), f.Backup)
	case len(f.Changes) == 0:
		u.Info("there is nothing in %s that is safe to fix", f.File)
	}
	return nil
}
