package cli

import (
	"cmp"
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// Set by the linker for releases (-X); build information fills them elsewhere.
//
//nolint:gochecknoglobals // the linker can set nothing else
var linkVersion, linkCommit string

// versionInfo is the output of mcpctl version.
type versionInfo struct {
	// Version is a semantic version without "v", or "devel".
	Version string `json:"version"`
	// Commit is the revision of the source, "" if unknown, with the suffix "+dirty"
	// for a tree with changes.
	Commit    string   `json:"commit"`
	Go        string   `json:"go"`
	Protocols []string `json:"protocols"`
}

// buildVersion returns the version of this program.
func buildVersion() versionInfo {
	v := versionInfo{Version: linkVersion, Commit: linkCommit, Go: goruntime.Version(), Protocols: revision.Versions()}
	info, ok := debug.ReadBuildInfo()
	if ok && v.Version == "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	v.Version = strings.TrimPrefix(v.Version, "v")
	if !ok || v.Commit != "" {
		return v
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && v.Commit != "" {
		v.Commit += "+dirty"
	}
	return v
}

// addVersionFlag adds --version to root, which has nothing to run and shows its help
// otherwise. Cobra's own flag needs a template for this output, and a program with
// templates keeps every method of every type.
func addVersionFlag(root *cobra.Command) {
	asked := root.Flags().Bool("version", false, "version for mcpctl")
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, words []string) {
		if cmd != root || !*asked || cmd.Flags().Changed("help") {
			help(cmd, words)
			return
		}
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), "mcpctl %s\n", buildVersion().Version)
	})
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit, Go's version and the protocol revisions",
		Example: "  mcpctl version\n  mcpctl version --json",
		Args:    cobra.NoArgs, Annotations: map[string]string{anyFiles: "yes"},
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if a.ui.WantJSON() {
				return a.ui.EncodeJSON(v)
			}
			_, err := fmt.Fprintf(a.ui.Out, "mcpctl %s\ncommit     %s\ngo         %s\nprotocols  %s\n",
				v.Version, cmp.Or(v.Commit, "unknown"), v.Go, strings.Join(v.Protocols, ", "))
			return err
		},
	}
}
