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
		Use:   "resources [SERVER]",
		Short: "List the resources of servers",
		Long: "List a server's resources, or with --templates the patterns of further ones. mcpctl read prints one.\n" +
			"Without a server, all of them are asked.",
		Example: "  mcpctl resources docs\n  mcpctl resources docs --templates\n  mcpctl resources",
	}
	cmd.Flags().BoolVar(&templates, "templates", false, "list the resource templates")
	a.onServer(cmd, 1, 1, func(ctx context.Context, s *session, _ []string) error {
		if templates {
			return s.printList(ctx, revision.MethodResourceTemplatesList, "resourceTemplates", s.showTemplates)
		}
		return s.printList(ctx, revision.MethodResourcesList, "resources", s.showResources)
	})
	return a.paged(a.orEvery(cmd, func() everyList {
		if templates {
			return everyList{revision.MethodResourceTemplatesList, "resourceTemplates", []string{"URI TEMPLATE", "NAME", "TYPE", "DESCRIPTION"}, func(item json.RawMessage) []string {
				var r runtime.ResourceTemplate
				if json.Unmarshal(item, &r) != nil {
					return nil
				}
				return templateRow(&r)
			}}
		}
		return everyList{revision.MethodResourcesList, "resources", []string{"URI", "NAME", "TYPE", "SIZE", "DESCRIPTION"}, func(item json.RawMessage) []string {
			var r runtime.Resource
			if json.Unmarshal(item, &r) != nil {
				return nil
			}
			return resourceRow(&r)
		}}
	}))
}

func resourceRow(r *runtime.Resource) []string {
	size := ""
	if r.Size != nil {
		size = ui.Size(int(*r.Size))
	}
	return []string{r.URI, cmp.Or(r.Title, r.Name), r.MIMEType, size, ui.FirstLine(r.Description)}
}

func templateRow(r *runtime.ResourceTemplate) []string {
	return []string{r.URITemplate, cmp.Or(r.Title, r.Name), r.MIMEType, ui.FirstLine(r.Description)}
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
	for i := range list {
		rows[i] = resourceRow(&list[i])
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
	for i := range list {
		rows[i] = templateRow(&list[i])
	}
	return s.a.ui.NameTable([]string{"URI TEMPLATE", "NAME", "TYPE", "DESCRIPTION"}, rows)
}
