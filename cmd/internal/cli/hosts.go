package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/hostfiles"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newImport(a *app) *cobra.Command {
	im := &hostfiles.Import{}
	cmd := &cobra.Command{
		Use:     "import [HOST|FILE|-]...",
		Short:   "Take servers over from editors and other gateways",
		Long:    hostfiles.ImportLong(),
		Example: "  mcpctl import\n  mcpctl import cursor claude-code --dry-run\n  mcpctl import ./mcp.json\n  mcpctl import ./config.yaml --from litellm --dry-run",
		RunE: func(cmd *cobra.Command, words []string) error {
			target, err := a.editable(im.Project)
			if err != nil {
				return err
			}
			im.Command, im.Stdin = a.hostProgram(), a.readStdin
			im.ConfigPath, im.Load, im.Update = target.Path, target.Load, target.Update
			im.Views = viewStore{a.configuring(), a.settings.Serve}
			return im.Run(cmd.Context(), words)
		},
		ValidArgsFunction: hostWords(true, importable()),
	}
	cmd.Flags().BoolVar(&im.All, "all", false, "import everything that is found, and ask nothing")
	cmd.Flags().StringVar(&im.From, "from", "", "the host or gateway whose form FILE has, where it could be of several")
	cmd.Flags().BoolVar(&im.Project, "project", false, "write to the file of this project, .mcpctl/servers.json")
	cmd.Flags().BoolVar(&im.Force, "force", false, "also import servers without the settings that limit them at their host")
	cmd.Flags().BoolVar(&im.DryRun, "dry-run", false, "print what would be imported and write nothing")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(importable(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// importable returns the names of hosts and gateways.
func importable() []string { return slices.Concat(hosts.Names(), hosts.GatewayNames()) }

// viewStore is serve.views of config.yaml.
type viewStore struct {
	command *ConfigCommand
	serve   settings.Serve
}

func (s viewStore) Names() ([]string, error) {
	all, err := settings.Views(s.command.Settings.File())
	return all.Names(), err
}

func (s viewStore) Set(name string, view json.RawMessage) error {
	return s.command.editSettings(func(before []byte) ([]byte, error) {
		return configedit.SetYAML(before, view, "serve", "views", name)
	})
}

func (s viewStore) Exposed(servers []string, server, tool string) string {
	if strings.Contains(tool, "*") { // a pattern, which names keep as it is
		return strings.TrimSuffix(s.Exposed(servers, server, "x"), "x") + tool
	}
	return find.ServeNames(s.serve, servers).Exposed(server, []string{tool})[0]
}

func newExport(a *app) *cobra.Command {
	ex := &hostfiles.Export{}
	undo := false
	cmd := &cobra.Command{
		Use:     "export HOST [ALIAS...]",
		Short:   "Write servers to the file of another host",
		Long:    hostfiles.ExportLong(),
		Example: "  mcpctl export cursor\n  mcpctl export claude-code gh fs --project --dry-run\n  mcpctl export windsurf --gateway\n  mcpctl export cursor --undo",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			ex.Command, ex.Self = a.hostProgram(), hostfiles.Self(a.getenv, a.settings.ConfigPath)
			switch {
			case undo && (len(words) > 1 || ex.Gateway || ex.Replace):
				return usagef("export: --undo takes everything back; it cannot be used with an alias, --gateway or --replace").withHint("mcpctl export %s --undo", words[0])
			case undo:
				return ex.Undo(cmd.Context(), words[0])
			case ex.Gateway && config.IsInline(a.settings.ConfigPath):
				return usagef("export: the other host does not have %s: --gateway needs a file", config.InlineVariable).withHint("mcpctl --config FILE export %s --gateway", words[0])
			case ex.Gateway && len(words) > 1:
				return usagef("export: the gateway has all servers; --gateway cannot be used with an alias").withHint("mcpctl export %s --gateway", words[0])
			}
			return ex.Run(cmd.Context(), words[0], words[1:])
		},
		ValidArgsFunction: hostWords(false, hosts.Names()),
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&ex.Project, "project", false, "write to the host's file of this project")
	f.BoolVar(&ex.Gateway, "gateway", false, "write one entry, which starts mcpctl serve with all servers")
	f.BoolVar(&ex.Replace, "replace", false, "overwrite entries of the same name that mcpctl has not written")
	f.BoolVar(&undo, "undo", false, "take back what was written to the host's file")
	f.BoolVar(&ex.DryRun, "dry-run", false, "print the changes and write nothing")
	return cmd
}

func newSync(a *app) *cobra.Command {
	s := &hostfiles.Sync{}
	watch := false
	cmd := &cobra.Command{
		Use:     "sync [HOST...]",
		Short:   "Bring other hosts in line with servers.json",
		Long:    hostfiles.SyncLong,
		Example: "  mcpctl sync\n  mcpctl sync cursor --check",
		RunE: func(cmd *cobra.Command, names []string) error {
			s.Command, s.Self = a.hostProgram(), hostfiles.Self(a.getenv, a.settings.ConfigPath)
			if watch {
				if s.Check {
					return usagef("sync: --check and --watch cannot be used together")
				}
				a.LongRunning.Store(true)
				return s.Watch(cmd.Context(), names, a.log, a.report)
			}
			return s.Run(cmd.Context(), names)
		},
		ValidArgsFunction: hostWords(true, hosts.Names()),
	}
	cmd.Flags().BoolVar(&s.Check, "check", false, "write nothing; exit 10 if a file differs")
	cmd.Flags().BoolVar(&watch, "watch", false, "follow changes of servers.json until interrupted")
	return cmd
}

// hostProgram returns what the commands about hosts need.
func (env *environment) hostProgram() *hostfiles.Command {
	return &hostfiles.Command{
		UI: env.ui, Getenv: env.getenv, ConfigPath: env.settings.ConfigPath, StateDir: config.StateDir(env.getenv), Place: hostfiles.Here(env.getenv),
		Load:  func() (*config.File, error) { return config.Load(env.settings.ConfigPath) },
		Asker: func() ui.Asker { return env.ui.Asker() },
	}
}

// hostWords completes names: all words, or the first alone.
func hostWords(all bool, names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, before []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(before) > 0 && !all {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}
