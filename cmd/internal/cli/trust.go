package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// AskTrust asks whether a project's file is to be used, shows what it would run, and keeps
// the answer. It returns the state that the file has now, unchanged if there is nobody to
// ask.
func AskTrust(ctx context.Context, u *ui.UI, asker ui.Asker, t layers.Trust, l *layers.Layer) (layers.State, error) {
	if _, silent := asker.(*ui.NonInteractive); silent || t.Dir == "" {
		return l.State, nil
	}
	why := "is new to mcpctl"
	if l.State == layers.Changed {
		why = "has changed since you trusted it"
	}
	fmt.Fprintf(u.Err, "%s %s. With your trust, mcpctl runs and reaches:\n%s", ui.CleanLine(l.Path), why, describe(l.File))
	answers := []string{"not now: ignore it this time", "yes: trust it, until it changes", "no: ignore it, until it changes"}
	n, err := asker.Select(ctx, ui.Question{Message: "Trust this file", Flag: "mcpctl config trust"}, answers)
	if errors.Is(err, ui.ErrNoAnswer) || err == nil && n == 0 {
		return l.State, nil
	}
	if err != nil {
		return l.State, err
	}
	if err := t.Decide(l.Path, l.File.Digest(), n == 1); err != nil {
		return l.State, err
	}
	if n == 1 {
		return layers.Used, nil
	}
	return layers.Refused, nil
}

// TrustOptions are the flags of config trust.
type TrustOptions struct {
	Revoke, List bool
}

// decided is one project file in the list of decisions.
type decided struct {
	Path    string    `json:"path"`
	Trusted bool      `json:"trusted"`
	At      time.Time `json:"at"`
	// State is "same", "changed" or "gone".
	State string `json:"state"`
}

// Trust trusts a project's file, by default that of the working directory, or takes that
// back.
func (p *ConfigCommand) Trust(ctx context.Context, words []string, o TrustOptions) error {
	trust := Trust(p.Getenv)
	if o.List {
		if len(words) > 0 || o.Revoke {
			return ui.Usage("config trust --list cannot be used with PATH or --revoke")
		}
		return p.listTrusted(trust)
	}
	path, err := p.projectFile(words)
	if err != nil {
		return err
	}
	if o.Revoke {
		return p.revoke(trust, path)
	}
	f, err := config.Load(path)
	if err != nil {
		return err
	}
	if f.Missing() {
		return &config.Problem{File: path, Message: "there is no such file", Remedy: "mcpctl add ALIAS --project … makes the file of a project"}
	}
	if !p.UI.JSON && !p.UI.Quiet {
		fmt.Fprintf(p.UI.Err, "%s runs and reaches:\n%s", ui.CleanLine(path), describe(f))
	}
	yes, err := p.Asker().Confirm(ctx, ui.Question{Message: "Trust it"})
	switch {
	case errors.Is(err, ui.ErrNoAnswer): // the command is the answer
	case err != nil:
		return err
	case !yes:
		return p.report(path, false, "%s is not trusted\n")
	}
	if err := trust.Decide(path, f.Digest(), true); err != nil {
		return err
	}
	return p.report(path, true, "trusted %s\n")
}

// revoke takes the trust of a file back.
func (p *ConfigCommand) revoke(trust layers.Trust, path string) error {
	was, err := trust.Forget(path)
	if err != nil {
		return err
	}
	if !was {
		p.UI.Info("%s was not trusted", path)
	}
	return p.report(path, false, "%s is trusted no longer\n")
}

// report prints what has become of a file.
func (p *ConfigCommand) report(path string, trusted bool, text string) error {
	if p.UI.WantJSON() {
		return p.UI.EncodeJSON(map[string]any{"path": path, "trusted": trusted})
	}
	_, err := fmt.Fprintf(p.UI.Out, text, ui.CleanLine(path))
	return err
}

// projectFile returns the path of the project's file that a word names: the file, or its
// project's folder. Without a word it is that of the working directory.
func (p *ConfigCommand) projectFile(words []string) (string, error) {
	if len(words) == 0 {
		if at := Places(p.Getenv, p.Settings.ConfigPath, false).Project; at != "" {
			return at, nil
		}
		return "", ui.Usage("no project file in this folder or above it").WithHint("mcpctl config trust PATH")
	}
	path, err := filepath.Abs(words[0])
	if err != nil {
		return "", err
	}
	if filepath.Base(path) == filepath.Base(filepath.Dir(layers.PathIn(path))) { // the folder .mcpctl
		path = filepath.Dir(path)
	}
	if path != layers.PathIn(layers.ProjectDir(path)) {
		path = layers.PathIn(path)
	}
	return layers.Canonical(path), nil
}

// listTrusted prints the decisions about project files.
func (p *ConfigCommand) listTrusted(trust layers.Trust) error {
	all, err := trust.Decisions()
	if err != nil {
		return err
	}
	out := []decided{}
	var rows [][]string
	for _, d := range all {
		one := decided{d.Path, d.Trusted, d.At, "same"}
		switch f, err := config.Load(d.Path); {
		case err == nil && f.Missing():
			one.State = "gone"
		case err != nil || f.Digest() != d.Digest:
			one.State = "changed"
		}
		out = append(out, one)
		verdict := map[bool]string{true: "trusted", false: "ignored"}[d.Trusted]
		if one.State != "same" {
			verdict += ", " + one.State
		}
		rows = append(rows, []string{plain.Line(d.Path), verdict, d.At.Local().Format(time.DateOnly)})
	}
	if p.UI.WantJSON() {
		return p.UI.EncodeJSON(map[string]any{"projects": out})
	}
	if len(rows) == 0 {
		p.UI.Info("no project file is trusted; mcpctl config trust PATH trusts one")
		return nil
	}
	return p.UI.Table(ui.Table{Headers: []string{"FILE", "DECISION", "SINCE"}, Rows: rows})
}
