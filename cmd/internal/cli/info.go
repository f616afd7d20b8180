package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

func newInfo(a *app) *cobra.Command {
	var pre bool
	cmd := &cobra.Command{
		Use:   "info NAME[@VERSION] | ./server.json",
		Short: "Show a registry record, and the entry that add would write",
		Long: "Show a registry record, the entry that add would write, and the values that you must supply.\n" +
			"Nothing is written. The default VERSION is the latest.",
		Example: "  mcpctl info io.github.acme/thing\n  mcpctl info io.github.acme/thing@1.2.0\n  mcpctl info ./server.json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.info(cmd.Context(), args[0], pre) },

		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	cmd.Flags().BoolVar(&pre, "pre", false, "allow a prerelease if the registry calls it the latest version")
	return cmd
}

// infoResult is the JSON of info. Entry is null for a record that add refuses; the
// first warning says why.
type infoResult struct {
	Server   json.RawMessage        `json:"server"`
	Meta     json.RawMessage        `json:"_meta"`
	Entry    json.RawMessage        `json:"entry"`
	Required []scaffold.Requirement `json:"required"`
	Optional []scaffold.Option      `json:"optional"`
	Warnings []string               `json:"warnings"`
}

func (a *app) info(ctx context.Context, arg string, pre bool) error {
	rec, err := a.find(ctx, arg, pre)
	if err != nil {
		return err
	}
	plan, refused := rec.planFor(scaffold.Options{})
	if refused != nil {
		text := refused.Error()
		if hint := hintOf(refused); hint != "" {
			text += " (" + hint + ")"
		}
		plan = &scaffold.Plan{Warnings: append([]string{text}, rec.notes...)}
	}
	if a.ui.WantJSON() {
		return a.ui.EncodeJSON(infoResult{
			rec.record.Server.Raw, rec.record.Meta.Raw, plan.Entry, nonNil(plan.Required), nonNil(plan.Optional), nonNil(plan.Warnings),
		})
	}
	var b strings.Builder
	describeServer(&b, rec)
	if refused == nil {
		describePlan(&b, plan)
	}
	for _, w := range plan.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", ui.CleanLine(w))
	}
	_, err = fmt.Fprint(a.ui.Out, b.String())
	return err
}

// field writes one line of info, unless the value is empty.
func field(b *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "%-13s %s\n", name, ui.CleanLine(value))
	}
}

// describeServer writes what the registry says.
func describeServer(b *strings.Builder, rec *found) {
	s, m := rec.record.Server, rec.record.Meta
	field(b, "Name", s.Name)
	field(b, "Title", s.Title)
	field(b, "Description", s.Description)
	version := s.Version
	if rec.latest != "" && rec.latest != s.Version {
		version += " (latest: " + rec.latest + ")"
	}
	field(b, "Version", version)
	status := string(m.Status)
	if m.StatusMessage != "" {
		status += ": " + m.StatusMessage
	}
	if rec.registry == "" {
		status = ""
	}
	field(b, "Status", status)
	field(b, "Namespace", namespaceKind(s.Name))
	field(b, "Published", m.PublishedAt)
	repo := s.Repository.URL
	if s.Repository.Subfolder != "" {
		repo += " (" + s.Repository.Subfolder + ")"
	}
	field(b, "Repository", repo)
	field(b, "Website", s.WebsiteURL)
	for i, p := range s.Packages {
		line := strings.TrimSpace(p.RegistryType + " " + p.Identifier + " " + p.Version)
		if t := p.Transport.Type; t != "" && t != "stdio" {
			line += " over " + t
		}
		field(b, fmt.Sprintf("Package %d", i+1), line)
	}
	for i, r := range s.Remotes {
		field(b, fmt.Sprintf("Remote %d", i+1), r.Type+" "+r.URL)
	}
}

// namespaceKind returns how the registry has verified a name.
func namespaceKind(name string) string {
	namespace, _ := registry.SplitName(name)
	if user, ok := strings.CutPrefix(namespace, "io.github."); ok {
		return "GitHub user or organisation " + user
	}
	if labels := strings.Split(namespace, "."); len(labels) > 1 {
		slices.Reverse(labels)
		return "domain " + strings.Join(labels, ".")
	}
	return ""
}

// describePlan writes what add would do.
func describePlan(b *strings.Builder, p *scaffold.Plan) {
	fmt.Fprintf(b, "\nadd writes, as %s:\n%s\n", p.Alias, ui.Clean(config.Format(p.Entry)))
	inputs := func(title string, n int, line func(int) string) {
		if n == 0 {
			return
		}
		fmt.Fprintf(b, "\n%s:\n", title)
		for i := range n {
			fmt.Fprintf(b, "  %s\n", ui.CleanLine(line(i)))
		}
	}
	inputs("required", len(p.Required), func(i int) string {
		r := p.Required[i]
		return inputLine("${"+r.Name+"}", r.Flag(), r.Secret, r.Choices, r.Description)
	})
	inputs("optional", len(p.Optional), func(i int) string {
		o := p.Optional[i]
		return inputLine("", o.Flag(), o.Secret, o.Choices, o.Description)
	})
	inputs("alternatives", len(p.Alternatives), func(i int) string {
		alt := p.Alternatives[i]
		return alt.Flag + ": " + alt.Type + " " + alt.Reference
	})
	if p.Start != nil {
		fmt.Fprintf(b, "\nstart it first: %s\n", ui.CleanLine(startLine(p)))
	}
	if p.Install != nil {
		fmt.Fprintf(b, "\ninstall it first: %s\n", ui.CleanLine(shellLine(p.Install)))
	}
}

func inputLine(hole, flag string, secret bool, choices []string, description string) string {
	s := flag
	if hole != "" {
		s = hole + " or " + flag
	}
	if secret {
		s += " (secret)"
	}
	if len(choices) > 0 {
		s += " one of " + strings.Join(choices, ", ")
	}
	if description != "" {
		s += ": " + description
	}
	return s
}
