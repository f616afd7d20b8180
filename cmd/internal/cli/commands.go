package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// commandGroup is a heading of the help text and the commands below it.
type commandGroup struct {
	id, title string
	commands  []command
}

// command is how a command of the top level is built.
type command struct {
	name  string
	build func(a *app) *cobra.Command
}

// commandGroups returns the whole command tree. The help text has the groups in
// this order, and the commands of each by name.
func commandGroups() []commandGroup {
	return []commandGroup{
		{"configure", "Find and configure:", []command{
			{"search", newSearch},
			{"info", newInfo},
			{"add", newAdd},
			{"list", newList},
			{"get", newGet},
			{"remove", newRemove},
			{"update", newUpdate},
			{"lint", newLint},
			{"import", newImport},
			{"export", newExport},
			{"sync", newSync},
			{"lock", newLock},
			{"config", newConfig},
			{"doctor", newDoctor},
		}},
		{"use", "Use:", []command{
			{"tools", newTools},
			{"find", newFind},
			{"budget", newBudget},
			{"grep", newGrep},
			{"describe", newDescribe},
			{"call", newCall},
			{"resources", newResources},
			{"read", newRead},
			{"prompts", newPrompts},
			{"prompt", newPrompt},
			{"ping", newPing},
			{"session", newKeep},
		}},
		{"authorise", "Authorise:", []command{
			{"auth", newAuth},
			{"access", newAccess},
			{"policy", newPolicy},
			{"audit", newAudit},
		}},
		{"generate", "Generate:", []command{
			{"generate", newGenerate},
		}},
		{"serve", "Serve:", []command{
			{"serve", newServe},
			{"bridge", newBridge},
			{"mcp", newMCP},
			{"run", newRun},
			{"status", newStatus},
		}},
		{restGroup, "Rest:", []command{
			{"demo", newDemo},
			{"demo-server", newDemoServer},
			{"version", newVersion},
		}},
	}
}

const restGroup = "rest"

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
	root.SetCompletionCommandGroupID(restGroup)
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
