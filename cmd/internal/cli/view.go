package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/internal/plain"
)

func newConfigView(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "view", Short: "List, create and remove views of serve", Args: cobra.NoArgs,
		Long: `List the views in serve.views of config.yaml: which tools of serve a client sees. mcpctl view is short for it.
mcpctl tools --view NAME lists the tools of one.`,
		Example: "  mcpctl view\n  mcpctl view create coding github fs/read_file '!github/delete_*'\n  mcpctl view remove coding",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.listViews(cmd.Context()) },
	}
	cmd.AddCommand(newViewCreate(a), newViewRemove(a))
	return cmd
}

// newView is a view as view create writes it.
type newView struct {
	Tools        []string `json:"tools,omitempty"`
	Only         string   `json:"only,omitempty"`
	Clients      []string `json:"clients,omitempty"`
	Groups       []string `json:"groups,omitempty"`
	List         string   `json:"list,omitempty"`
	Instructions string   `json:"instructions,omitempty"`
}

func newViewCreate(a *app) *cobra.Command {
	var v newView
	var readOnly, preset, replace bool
	cmd := &cobra.Command{
		Use: "create NAME [TOOL...]", Short: "Create a view", Args: cobra.MinimumNArgs(1),
		Long: `Create a view in serve.views of config.yaml. TOOL is a server, SERVER/TOOL, or the name that serve shows, and may have a *;
after ! it is left out. Without TOOL, a terminal asks; with --read-only, all tools that only read are in the view.
Prompts and resources are not limited. A running serve has the view at once, at /mcp/NAME.`,
		Example: "  mcpctl view create coding github fs/read_file '!github/delete_*'\n  mcpctl view create look --read-only --default\n  mcpctl view create desk shop --client 'cursor*'",
		RunE: func(cmd *cobra.Command, words []string) error {
			if readOnly {
				v.Only = "read"
			}
			return a.createView(cmd.Context(), words[0], words[1:], &v, preset, replace)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&readOnly, "read-only", false, "only tools that only read")
	f.StringArrayVar(&v.Clients, "client", nil, "for clients that say they are `NAME`, which may have a * (repeatable)")
	f.StringArrayVar(&v.Groups, "group", nil, "for principals of this `GROUP` (repeatable)")
	f.StringVar(&v.List, "list", "", "`FORM` of the list: all, search or auto")
	f.StringVar(&v.Instructions, "instructions", "", "a `TEXT` in front of the servers' own instructions")
	f.BoolVar(&preset, "default", false, "for every client that no other view is for (serve.view)")
	f.BoolVar(&replace, "replace", false, "replace a view of that name")
	completeWords(cmd, "list", "all", "search", "auto")
	return cmd
}

func newViewRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a view", Args: cobra.ExactArgs(1),
		Long: "Remove a view from serve.views of config.yaml.", Example: "  mcpctl view remove coding",
		RunE: func(_ *cobra.Command, words []string) error {
			if _, err := find.ViewNamed(a.settings.Serve.Views, words[0]); err != nil {
				return err
			}
			return a.configuring().changeSettings("serve.views."+words[0], "unset", ValueOptions{}, func(before []byte) ([]byte, error) {
				after, _, err := configedit.UnsetYAML(before, "serve", "views", words[0])
				return after, err
			})
		},
		ValidArgsFunction: func(cmd *cobra.Command, words []string, begun string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
			a.setupCompletion(cmd)
			all, err := settings.Views(a.settings.File())
			if err == nil && len(words) == 0 {
				for _, name := range all.Names() {
					if strings.HasPrefix(name, begun) {
						out = append(out, name)
					}
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// listedView is a view in a list.
type listedView struct {
	Name    string `json:"name"`
	Tools   int    `json:"tools"`
	Default bool   `json:"default,omitempty"`
}

// listViews prints the views, with how many tools each has by the lists that servers sent last.
func (a *app) listViews(ctx context.Context) error {
	all, err := a.storedViews(ctx, nil)
	if err != nil {
		return err
	}
	views := []listedView{}
	var rows [][]string
	for _, name := range a.settings.Serve.Views.Names() {
		shown, _, err := all.in(name)
		if err != nil {
			return err
		}
		one := listedView{name, len(shown), a.settings.Serve.View == name}
		views = append(views, one)
		rows = append(rows, []string{name, fmt.Sprint(len(shown)), map[bool]string{true: "default"}[one.Default]})
	}
	switch {
	case a.ui.WantJSON():
		return a.ui.EncodeJSON(map[string]any{"views": views})
	case len(rows) == 0:
		a.ui.Info("there is no view: every client sees everything; mcpctl view create NAME makes one")
		return nil
	}
	return a.ui.NameTable([]string{"VIEW", "TOOLS", ""}, rows)
}

// createView writes a view, and prints it.
func (a *app) createView(ctx context.Context, name string, words []string, v *newView, preset, replace bool) error {
	views := a.settings.Serve.Views
	if slices.Contains(views.Names(), name) && !replace {
		return usagef("there is a view %s", ui.CleanLine(name)).withHint("--replace replaces it")
	}
	var err error
	if len(words) == 0 && v.Only == "" {
		if words, err = a.pickTools(ctx); err != nil {
			return err
		}
	}
	if v.Tools, err = a.viewPatterns(words); err != nil {
		return err
	}
	raw, err := plain.JSON(v)
	if err != nil {
		return err
	}
	err = a.configuring().editSettings(func(before []byte) ([]byte, error) {
		after, err := configedit.SetYAML(before, raw, "serve", "views", name)
		if err == nil && preset {
			after, err = configedit.SetYAML(after, name, "serve", "view")
		}
		return after, err
	})
	if err != nil {
		return err
	}
	if a.settings.Serve.Views, err = settings.Views(a.settings.File()); err != nil {
		return err
	}
	all, err := a.storedViews(ctx, nil)
	if err != nil {
		return err
	}
	shown, doubts, err := all.in(name)
	if err != nil {
		return err
	}
	for i := range doubts {
		noteProblem(a.ui, &doubts[i])
	}
	if a.ui.WantJSON() {
		return a.ui.EncodeJSON(map[string]any{"name": name, "view": raw, "tools": len(shown), "file": a.settings.File()})
	}
	_, err = fmt.Fprintf(a.ui.Out, "created the view %s: %s\n", ui.CleanLine(name), plain.Count(len(shown), "tool"))
	a.ui.Info("clients get it at /mcp/%s of serve --http, or from serve --view %s; mcpctl tools --view %s lists it", name, name, name)
	return err
}

// viewPatterns returns names as views have them: shop__* for the server shop, shop__echo for
// shop/echo.
func (a *app) viewPatterns(words []string) ([]string, error) {
	f, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	var servers []string
	for _, e := range f.Entries() {
		servers = append(servers, e.Name)
	}
	store := viewStore{serve: a.settings.Serve}
	out := make([]string, 0, len(words))
	for _, word := range words {
		bare, left := strings.CutPrefix(word, "!")
		server, tool, qualified := strings.Cut(bare, "/")
		pattern := bare
		switch form := toolForm(bare, servers); {
		case slices.Contains(servers, bare):
			pattern = store.Exposed(servers, bare, "*")
		case len(form) == 2:
			pattern = store.Exposed(servers, form[0], form[1])
		case qualified && tool != "":
			return nil, unknownName("there is no server", server, servers, "mcpctl list")
		case !strings.Contains(bare, "*"):
			return nil, unknownName("neither a server nor a tool of serve is", bare, servers, "mcpctl tools")
		}
		if left {
			pattern = "!" + pattern
		}
		out = append(out, pattern)
	}
	return out, nil
}

// pickTools asks for the tools of a view.
func (a *app) pickTools(ctx context.Context) ([]string, error) {
	asker := a.askable()
	if asker == nil {
		return nil, usagef("missing argument: mcpctl view create NAME TOOL...").withHint("a TOOL is a server, or SERVER/TOOL; --read-only takes all that only read")
	}
	f, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	var words, options []string
	for _, l := range find.Load(ctx, a.known(), f.Enabled()).Lists {
		for _, t := range ui.ShortTools(l.Items) {
			words = append(words, l.Server+"/"+t.Name)
			options = append(options, strings.TrimSpace(l.Server+"/"+t.Name+"  "+t.Description))
		}
	}
	if len(options) == 0 {
		return nil, usagef("no server has listed its tools yet").withHint("mcpctl tools --live asks them")
	}
	chosen, err := asker.MultiSelect(ctx, ui.Question{Message: "Tools of the view"}, options)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, usagef("no tool was chosen")
	}
	out := make([]string, len(chosen))
	for i, at := range chosen {
		out[i] = words[at]
	}
	return out, nil
}
