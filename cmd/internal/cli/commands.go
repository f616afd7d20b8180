package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// commandGroup is a heading of the help text and the commands below it.
type commandGroup struct {
	id, title string
	commands  []command
	// first is how many of the commands mcpctl --help describes; it names the others.
	first int
}

// command is how a command of the top level is built.
type command struct {
	name  string
	build func(a *app) *cobra.Command
}

// commandGroups returns the whole command tree, in the order of the help text.
func commandGroups() []commandGroup {
	return []commandGroup{
		{"servers", "Servers", []command{
			{"search", newSearch},
			{"add", newAdd},
			{"list", newList},
			{"import", newImport},
			{"update", newUpdate},
			{"doctor", newDoctor},
			{"info", newInfo},
			{"get", newGet},
			{"remove", newRemove},
			{"export", newExport},
			{"sync", newSync},
			{"lock", newLock},
			{"lint", newLint},
		}, 6},
		{"call", "Call", []command{
			{"tools", newTools},
			{"describe", newDescribe},
			{"call", newCall},
			{"read", newRead},
			{"prompt", newPrompt},
			{"find", newFind},
			{"resources", newResources},
			{"prompts", newPrompts},
			{"grep", newGrep},
			{"ping", newPing},
			{"session", newKeep},
			{"budget", newBudget},
		}, 6},
		{"generate", "Generate", []command{
			{"generate", newGenerate},
		}, 1},
		{"gateway", "Gateway", []command{
			{"serve", newServe},
			{"status", newStatus},
			{"bridge", newBridge},
			{"mcp", newMCP},
			{"run", newRun},
		}, 3},
		{"security", "Security", []command{
			{"auth", newAuth},
			{"access", newAccess},
			{"policy", newPolicy},
			{"audit", newAudit},
		}, 4},
		{setupGroup, "Setup", []command{
			{"config", newConfig},
			{"demo", newDemo},
			{"demo-server", newDemoServer},
			{"version", newVersion},
		}, 2},
	}
}

const setupGroup = "setup"

// addCommands adds the command tree to root.
func addCommands(root *cobra.Command, a *app) {
	for _, g := range commandGroups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			cmd := c.build(a)
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.SetCompletionCommandGroupID(setupGroup)
}

// commandNamed returns the command of the top level with a name, without its aliases; false:
// there is none.
func commandNamed(name string) (command, bool) {
	for _, g := range commandGroups() {
		if i := slices.IndexFunc(g.commands, func(c command) bool { return c.name == name }); i >= 0 {
			return g.commands[i], true
		}
	}
	return command{}, false
}
