package cli

import (
	"bytes"
	"context"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/management"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

func newMCP(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "mcp",
		Short:   "Let agents find, add and check servers, as an MCP server",
		Long:    management.Long,
		Example: "  mcpctl add manage -- mcpctl mcp\n  mcpctl export claude-code manage",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.LongRunning.Store(true)
			return management.Serve(cmd.Context(), a.ui.In, a.ui.Out, management.Options{
				Version: a.built, ConfigPath: a.settings.ConfigPath,
				Run: func(ctx context.Context, approve adding.Approve, words ...string) management.Outcome {
					return again(ctx, a, cmd, approve, words)
				},
			})
		},
	}
}

// again runs mcpctl with other words and the same global flags. Nobody is asked at a
// terminal.
func again(ctx context.Context, a *app, cmd *cobra.Command, approve adding.Approve, words []string) management.Outcome {
	head := []string{"--no-input"}
	for _, name := range []string{"config", "registry", "timeout", "connect-timeout", "allow-insecure-http"} {
		f := cmd.Flag(name)
		if !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			head = append(head, "--"+name+"="+v)
		}
	}
	var out, notes bytes.Buffer
	b := &app{
		environment: environment{
			ui: ui.New(strings.NewReader(""), &out, &notes), getenv: a.getenv, log: slog.New(slog.DiscardHandler), file: serversFile{approve: approve},
		},
		endingSignals: endingSignals{Hurry: a.Hurry},
	}
	code := b.run(ctx, append(head, words...))
	return management.Outcome{Stdout: out.Bytes(), Stderr: notes.Bytes(), Code: code}
}
