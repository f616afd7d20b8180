package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
)

// otherWord is a word that people bring along from gh, kubectl, docker, claude or mcporter. It
// stands for a command of mcpctl, unless a server has the name.
type otherWord struct {
	word string
	// means are the words of mcpctl, in which SERVER is the word that follows; "" for none.
	means string
	// hint is what to do, where no command is the same.
	hint string
}

// otherWords returns the words. Each is reserved in package config, so that no new server gets
// the name.
func otherWords() []otherWord {
	return []otherWord{
		{word: "acl", hint: "mcpctl policy says who may do what"},
		{word: "check", means: "doctor"},
		{word: "del", means: "remove"},
		{word: "delete", means: "remove"},
		{word: "disable", means: "config set SERVER.disabled true"},
		{word: "edit", means: "config edit"},
		{word: "enable", means: "config set SERVER.disabled false"},
		{word: "exec", means: "call"},
		{word: "init", hint: "mcpctl import takes servers over from editors, mcpctl add adds one, mcpctl serve puts them behind one endpoint"},
		{word: "inspect", means: "describe"},
		{word: "install", means: "add"},
		{word: "login", means: "auth login"},
		{word: "logout", means: "auth logout"},
		{word: "logs", hint: "mcpctl audit shows what was done; mcpctl -v shows what a server writes while a command runs"},
		{word: "options", means: "help flags"},
		{word: "ps", means: "status"},
		{word: "reload", hint: "mcpctl serve reads changes of servers.json and config.yaml by itself"},
		{word: "restart", means: "session restart"},
		{word: "servers", means: "list"},
		{word: "start", means: "session"},
		{word: "stop", means: "session stop"},
		{word: "test", means: "doctor"},
		{word: "token", hint: "mcpctl access token makes tokens for callers of serve, mcpctl auth token prints that for a server"},
		{word: "top", means: "status"},
		{word: "uninstall", means: "remove"},
		{word: "upgrade", means: "update"},
		{word: "validate", means: "config validate"},
		{word: "view", means: "config view"},
		{word: "views", means: "config view"},
		{word: "whoami", means: "auth status"},
	}
}

// otherWordOf returns what a word stands for; false where it is none of them.
func otherWordOf(word string) (otherWord, bool) {
	all := otherWords()
	if i := slices.IndexFunc(all, func(o otherWord) bool { return o.word == word }); i >= 0 {
		return all[i], true
	}
	return otherWord{}, false
}

// meant replaces the word at i by the command that it stands for.
func (o otherWord) meant(words []string, i int) ([]string, error) {
	out := append(slices.Clone(words[:i]), strings.Fields(o.means)...)
	rest := words[i+1:]
	if at := slices.IndexFunc(out, func(w string) bool { return strings.HasPrefix(w, "SERVER") }); at >= 0 {
		if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
			return nil, usagef("missing argument: mcpctl %s SERVER", o.word).withHint("mcpctl list shows the configured servers")
		}
		out[at] = configKey(rest[0]) + strings.TrimPrefix(out[at], "SERVER")
		rest = rest[1:]
	}
	return append(out, rest...), nil
}

// configKey returns a server's name as the paths of config set have it.
func configKey(name string) string {
	if strings.ContainsAny(name, `.[]"`) {
		return `["` + name + `"]`
	}
	return name
}

// help describes what the word stands for.
func (o otherWord) help(root *cobra.Command) error {
	if o.means == "" {
		return usagef("%s is no command of mcpctl", o.word).withHint("%s", o.hint)
	}
	cmd := root
	for word := range strings.FieldsSeq(o.means) {
		if sub := subcommand(cmd, word); sub != nil {
			cmd = sub
		}
	}
	if _, err := root.OutOrStdout().Write([]byte("mcpctl " + o.word + " is short for mcpctl " + o.means + ".\n\n")); err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

// spelled replaces the word at i, if it names a tool as other programs do, by the server and the
// tool: SERVER.TOOL, SERVER/TOOL, SERVER__TOOL, SERVER.TOOL(name: value).
func spelled(words []string, i int, servers []string) ([]string, bool) {
	if i < 0 || i >= len(words) || slices.Contains(servers, words[i]) {
		return nil, false
	}
	form := toolForm(words[i], servers)
	if form == nil {
		return nil, false
	}
	return slices.Replace(slices.Clone(words), i, i+1, form...), true
}

// toolForm returns the words for one that names a server and a tool, nil for another word. Of
// two servers, it is that with the longer name.
func toolForm(word string, servers []string) (form []string) {
	name, rest, called := strings.Cut(word, "(")
	longest := -1
	for _, server := range servers {
		for _, separator := range []string{".", "/", "__"} {
			tool, ok := strings.CutPrefix(name, server+separator)
			if !ok || tool == "" || len(server) <= longest {
				continue
			}
			longest, form = len(server), []string{server, tool}
			if tool, words, ok := args.CallForm(tool + "(" + rest); called && ok {
				form = append([]string{server, tool}, words...)
			}
		}
	}
	return form
}
