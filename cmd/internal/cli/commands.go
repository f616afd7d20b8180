package cli

import "github.com/spf13/cobra"

// commands is the whole command tree, in the order of the help text.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newSearch(a),
		newInfo(a),
		newAdd(a),
		newList(a),
		newGet(a),
		newRemove(a),
		newConfig(a),
		newTools(a),
		newDescribe(a),
		newCall(a),
		newResources(a),
		newRead(a),
		newPrompts(a),
		newPrompt(a),
		newPing(a),
		newGenerate(a),
		newServe(a),
		newDemo(a),
		newDemoServer(a),
		newVersion(a),
	}
}
