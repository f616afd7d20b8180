package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	goruntime "runtime"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Path prints where servers.json is: a bare path also into pipes, for
// $(mcpctl config path).
func (p *ConfigCommand) Path(project bool) error {
	target, err := NewTarget(p.UI, p.Getenv, p.Settings, project)
	if err != nil {
		return err
	}
	path := target.Path
	if path == "" {
		_, err := config.Path(p.Getenv)
		return err
	}
	if p.UI.JSON {
		return p.UI.EncodeJSON(map[string]string{"path": path, "settings": p.Settings.File()})
	}
	if p.UI.OutTTY {
		path = ui.CleanLine(path)
	}
	_, err = fmt.Fprintln(p.UI.Out, path)
	return err
}

// Edit opens the file in an editor, after creating a missing one, and checks the result.
func (p *ConfigCommand) Edit(ctx context.Context, project bool) error {
	if p.UI.NoInput {
		return ui.Usage("config edit cannot be used with --no-input").WithHint("mcpctl config path prints where the file is")
	}
	target, err := NewTarget(p.UI, p.Getenv, p.Settings, project)
	if err != nil {
		return err
	}
	path := target.Path
	if path == "" {
		return p.Path(project)
	}
	editor := cmp.Or(p.Getenv("VISUAL"), p.Getenv("EDITOR"))
	if editor == "" {
		if !p.UI.InTTY {
			return ui.Usage("config edit needs a terminal").WithHint("set EDITOR to a program that needs no terminal")
		}
		editor = map[bool]string{true: "notepad", false: "vi"}[goruntime.GOOS == "windows"]
	}
	// A broken file may be edited; only a missing one is created.
	f, err := config.Load(path)
	if broken, ok := errors.AsType[*config.Problem](err); ok && broken.Line == 0 {
		return broken // not readable: an editor may hang
	}
	if err == nil && len(f.Bytes()) == 0 {
		if err := target.Update((*config.File).Init); err != nil {
			return err
		}
	}
	cmd := editorCommand(ctx, editor, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.UI.In, p.UI.Err, p.UI.Err
	if p.UI.OutTTY {
		cmd.Stdout = p.UI.Out
	}
	if err := cmd.Run(); err != nil {
		return &ui.Error{Err: fmt.Errorf("editor %s: %w", editor, err), Remedy: "VISUAL and EDITOR name the editor"}
	}
	return p.Validate(ValidateOptions{})
}

// editorCommand returns the command of an editor with arguments, as in "code
// --wait": by the shell, like git, and on Windows split at spaces.
func editorCommand(ctx context.Context, editor, path string) *exec.Cmd {
	if goruntime.GOOS != "windows" {
		return exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, "sh", path)
	}
	words := strings.Fields(editor)
	if _, err := exec.LookPath(editor); err == nil || len(words) == 0 {
		words = []string{editor}
	}
	return exec.CommandContext(ctx, words[0], append(words[1:], path)...)
}
