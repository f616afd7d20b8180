package cli

import "github.com/spf13/cobra"

// commandGroup is a heading of the help text and the commands below it.
type commandGroup struct {
	id, title string
	commands  []*cobra.Command
}

// commandGroups returns the whole command tree. The help text has the groups in
// this order, and the commands of each by name.
func (a *app) commandGroups() []commandGroup {
	return []commandGroup{
		{"configure", "Find and configure:", []*cobra.Command{
			newSearch(a),
			newInfo(a),
			newAdd(a),
			newList(a),
			newGet(a),
			newRemove(a),
			newUpdate(a),
			newLint(a),
			newImport(a),
			newExport(a),
			newSync(a),
			newLock(a),
			newConfig(a),
			newDoctor(a),
		}},
		{"use", "Use:", []*cobra.Command{
			newTools(a),
			newFind(a),
			newBudget(a),
			newGrep(a),
			newDescribe(a),
			newCall(a),
			newResources(a),
			newRead(a),
			newPrompts(a),
			newPrompt(a),
			newPing(a),
			newKeep(a),
		}},
		{"authorise", "Authorise:", []*cobra.Command{
			newAuth(a),
			newAccess(a),
			newPolicy(a),
			newAudit(a),
		}},
		{"generate", "Generate:", []*cobra.Command{
			newGenerate(a),
		}},
		{"serve", "Serve:", []*cobra.Command{
			newServe(a),
			newBridge(a),
			newMCP(a),
			newRun(a),
			newStatus(a),
		}},
		{restGroup, "Rest:", []*cobra.Command{
			newDemo(a),
			newDemoServer(a),
			newVersion(a),
		}},
	}
}

const restGroup = "rest"

// addCommands adds the command tree to root.
func addCommands(root *cobra.Command, a *app) {
	for _, g := range a.commandGroups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.SetCompletionCommandGroupID(restGroup)
}
