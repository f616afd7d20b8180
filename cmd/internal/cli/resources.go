package cli

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

func newResources(a *app) *cobra.Command {
	var templates bool
	cmd := &cobra.Command{
		Use:     "resources SERVER",
		Short:   "List a server's resources",
		Long:    "List a server's resources, or with --templates the patterns of further ones. mcpctl read prints one.",
		Example: "  mcpctl resources docs\n  mcpctl resources docs --templates",
	}
	cmd.Flags().BoolVar(&templates, "templates", false, "list the resource templates")
	return a.onServer(cmd, 1, 1, func(ctx context.Context, s *session, _ []string) error {
		if templates {
			return s.printList(ctx, revision.MethodResourceTemplatesList, "resourceTemplates", s.showTemplates)
		}
		return s.printList(ctx, revision.MethodResourcesList, "resources", s.showResources)
	})
}

func (s *session) decodeResources(items []json.RawMessage) []runtime.Resource {
	return entries(s, items, func(r *runtime.Resource, raw json.RawMessage) { r.Raw = raw })
}

func (s *session) showResources(items []json.RawMessage) error {
	list := s.decodeResources(items)
	if len(list) == 0 {
		s.a.ui.Info("the server lists no resources; it may have templates: %s --templates", s.command("resources"))
		return nil
	}
	rows := make([][]string, len(list))
	for i, r := range list {
		size := ""
		if r.Size != nil {
			size = ui.Size(int(*r.Size))
		}
		rows[i] = []string{r.URI, cmp.Or(r.Title, r.Name), r.MIMEType, size, ui.FirstLine(r.Description)}
	}
	return s.a.ui.NameTable([]string{"URI", "NAME", "TYPE", "SIZE", "DESCRIPTION"}, rows)
}

func (s *session) showTemplates(items []json.RawMessage) error {
	list := entries(s, items, func(r *runtime.ResourceTemplate, raw json.RawMessage) { r.Raw = raw })
	if len(list) == 0 {
		s.a.ui.Info("the server has no resource templates")
		return nil
	}
	rows := make([][]string, len(list))
	for i, r := range list {
		rows[i] = []string{r.URITemplate, cmp.Or(r.Title, r.Name), r.MIMEType, ui.FirstLine(r.Description)}
	}
	return s.a.ui.NameTable([]string{"URI TEMPLATE", "NAME", "TYPE", "DESCRIPTION"}, rows)
}
