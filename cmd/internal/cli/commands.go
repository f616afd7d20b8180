package cli

import "github.com/spf13/cobra"

// commands is the whole command tree, in the order of the help text.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newGenerate(a),
	}
}
