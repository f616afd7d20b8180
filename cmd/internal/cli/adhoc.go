package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// adhocServer is a server that the command line gives in place of a configured name.
type adhocServer struct {
	url     string // of --url, "" for none
	command []string
	env     givenFlag // of command
}

// anyServer marks a command that takes --url or "-- COMMAND" in place of a configured
// server.
const anyServer = "any-server"

// takenBy makes cmd such a command.
func (s *adhocServer) takenBy(cmd *cobra.Command) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[anyServer] = "yes"
	cmd.Flags().Var(&s.env, "env", "with -- COMMAND: set an environment variable, `NAME=VALUE`, or pass NAME on (repeatable)")
}

// cut takes the command behind "--" off the words of a command that has the flags of
// sets.
func (s *adhocServer) cut(sets lineFlags, words []string) ([]string, error) {
	_, dash := sets.Pieces(words)
	if dash < 0 || !IsCommand(words[dash+1:]) {
		return words, nil
	}
	if sets.Given(words[:dash], "url") {
		return nil, usagef("--url and a command after -- cannot be used together")
	}
	s.command = words[dash+1:]
	return words[:dash], nil
}

// check refuses --env without a command that it is for.
func (s *adhocServer) check() error {
	if len(s.env) > 0 && s.command == nil {
		return usagef("--env needs a command after --").withHint("an entry has its own: mcpctl config edit; an argument of a tool is written env=VALUE")
	}
	_, err := adding.Members("--env", s.env, false)
	return err
}

// given reports whether there is such a server: no word names one then.
func (s *adhocServer) given() bool { return s.url != "" || s.command != nil }

// label returns what messages call the server.
func (s *adhocServer) label() string {
	if s.command == nil {
		return config.DisplayURL(s.url)
	}
	return s.name()
}

// name returns a name that servers.json could have for the server.
func (s *adhocServer) name() string {
	if s.command == nil {
		return URLName(s.url)
	}
	return CommandName(s.command)
}

// entry returns the server's entry.
func (s *adhocServer) entry() config.Entry {
	if s.command == nil {
		return config.Entry{Name: s.label(), URL: config.Escape(s.url)}
	}
	e := adhocCommand(s.command)
	for _, g := range s.env {
		if e.Env == nil {
			e.Env = map[string]string{}
		}
		e.Env[g.Name] = g.Text()
	}
	return e
}
