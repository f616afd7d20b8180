package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/revision"
)

func newPing(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ping SERVER",
		Short: "Measure a server's round trip",
		Long: `Connect to a server, ask for a sign of life and print how long the answer took, connecting not counted.
As JSON: {"server","protocolVersion","roundTripMs"}.`,
		Example: "  mcpctl ping fs",
	}
	return a.onServer(cmd, 1, 1, func(ctx context.Context, s *session, _ []string) error {
		return s.ping(ctx)
	})
}

// modernRevision is the first revision with server/discover in place of ping
// (2026-07-28, Changes).
const modernRevision = "2026-07-28"

func (s *session) ping(ctx context.Context) error {
	method := revision.MethodPing
	version := s.Info().Version
	if version >= modernRevision {
		method = revision.MethodDiscover
	}
	start := time.Now()
	if _, err := s.Call(ctx, method, nil, nil); err != nil {
		return err
	}
	took := time.Since(start)
	if s.a.ui.WantJSON() {
		return s.a.ui.EncodeJSON(struct {
			Server  string      `json:"server"`
			Version string      `json:"protocolVersion"`
			Millis  json.Number `json:"roundTripMs"`
		}{s.server, version, json.Number(fmt.Sprintf("%.3f", float64(took.Nanoseconds())/1e6))})
	}
	program := ui.CleanLine(s.Info().Implementation.Name + " " + s.Info().Implementation.Version)
	_, err := io.WriteString(s.a.ui.Out, fmt.Sprintf("%s answered in %s (%s, protocol %s)\n",
		ui.CleanLine(s.server), took.Round(10*time.Microsecond), program, ui.CleanLine(version)))
	return err
}
