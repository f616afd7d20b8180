package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// completeServer completes the words of a command on a server: the configured names, and
// then what the server was last seen to offer. No server is started.
func (a *app) completeServer(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.setupCompletion(cmd)
		switch {
		case a.adhoc.given():
			return nil, cobra.ShellCompDirectiveNoFileComp
		case len(words) > 0:
			return completions((&offer{a: a, cmd: cmd, begun: begun}).words(words[0], words[1:]), begun)
		}
		return a.serverCompletions(begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// completions returns words as cobra takes them.
func completions(words []Word, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	words = Offered(words, begun)
	if len(words) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if slices.ContainsFunc(words, func(w Word) bool { return w.Open }) {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	out := make([]cobra.Completion, len(words))
	for i, w := range words {
		out[i] = cobra.CompletionWithDesc(w.Text, w.About)
	}
	return out, directive
}

// offer is one completion of a word behind a server's name.
type offer struct {
	a     *app
	cmd   *cobra.Command
	entry config.Entry
	begun string
}

// words returns the completions behind a server and further words.
func (o *offer) words(server string, words []string) []Word {
	file, err := o.a.loadConfig()
	if err != nil {
		return nil
	}
	if o.entry, err = file.Use(server); err != nil {
		return nil
	}
	switch verb := o.cmd.Name(); {
	case (verb == "call" || verb == "describe") && len(words) == 0:
		return Names(o.list("tools"))
	case verb == "call":
		if tool, ok := Entry(o.list("tools"), words[0]); ok {
			return Arguments(tool, words[1:], o.begun)
		}
	case verb == "read" && len(words) == 0:
		return o.resources()
	case verb == "prompt" && len(words) == 0:
		return Names(o.list("prompts"))
	case verb == "prompt":
		return o.prompt(words[0], words[1:])
	}
	return nil
}

// list returns the stored list of a kind.
func (o *offer) list(kind string) []json.RawMessage {
	return o.a.known().Quick(o.cmd.Context(), o.entry, kind).Items
}

func (o *offer) resources() []Word {
	templates := o.list("resourceTemplates")
	words := URIs(o.list("resources"), templates)
	if template, name, before, ok := Variable(templates, o.begun); ok {
		ref := map[string]string{"type": "ref/resource", "uri": template}
		for _, v := range o.values(ref, name, strings.TrimPrefix(o.begun, before), map[string]string{}) {
			words = append(words, Word{Text: before + v})
		}
	}
	return words
}

func (o *offer) prompt(name string, words []string) []Word {
	prompt, ok := Entry(o.list("prompts"), name)
	if !ok {
		return nil
	}
	key, value, isValue := strings.Cut(o.begun, "=")
	if !isValue {
		return PromptArguments(prompt, words)
	}
	given := map[string]string{}
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok {
			given[k] = v
		}
	}
	var out []Word
	for _, v := range o.values(map[string]string{"type": "ref/prompt", "name": name}, key, value, given) {
		out = append(out, Word{Text: key + "=" + v})
	}
	return out
}

// completeFirst completes servers beside the commands, for mcpctl SERVER, except
// those named like a command.
func (a *app) completeFirst(root *cobra.Command) {
	a.completeServer(root)
	servers := root.ValidArgsFunction
	root.ValidArgsFunction = func(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		out, directive := servers(cmd, words, begun)
		return slices.DeleteFunc(out, func(name string) bool { return builtin(name) || subcommand(root, name) != nil }), directive
	}
}

// completeServers is completeServer for commands that take any number of them.
func (a *app) completeServers(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.setupCompletion(cmd)
		others := slices.DeleteFunc(a.serverCompletions(begun), func(name string) bool { return slices.Contains(words, name) })
		return others, cobra.ShellCompDirectiveNoFileComp
	}
}

// serverCompletions returns the configured names; none if the file cannot be read,
// since a shell cannot show an error.
func (a *app) serverCompletions(begun string) []cobra.Completion {
	names, err := a.serverNames(a.settings.ConfigPath, a.settings.ConfigAlone)
	if err != nil {
		return nil
	}
	unusable := func(name string) bool {
		return !strings.HasPrefix(name, begun) || a.file.set.File().Withheld(name) != nil
	}
	return slices.DeleteFunc(names, unusable)
}

// serverFlag returns the completion of a flag of servers separated by commas.
func (a *app) serverFlag() cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.setupCompletion(cmd)
		before, last := "", begun
		if i := strings.LastIndexByte(begun, ','); i >= 0 {
			before, last = begun[:i+1], begun[i+1:]
		}
		names := a.serverCompletions(last)
		for i := range names {
			names[i] = before + names[i]
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag completes the values of a flag.
func completeFlag(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic("cli: completion of --" + flag + ": " + err.Error())
	}
}

// completeWords is completeFlag for a flag of fixed values.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	completeFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
