package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func (s *server) add(ctx context.Context, c *runtimetest.Call, in addition) (any, error) {
	words, err := in.words()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout+s.consent.timeout)
	defer cancel()
	var answer error
	approve := func(ctx context.Context, p adding.Proposal) error {
		answer = s.approve(ctx, c, p, "mcpctl "+clitool.Line(words))
		return answer
	}
	res, err := s.run(ctx, approve, slices.Insert(slices.Clone(words), 1, "--json", "--yes"))
	switch {
	case answer != nil:
		return nil, answer
	case err != nil:
		return nil, forAgents(err)
	}
	res["next"] = next(res)
	return res, nil
}

// forAgents puts the names of add_server's arguments into an error that has those of
// flags.
func forAgents(err error) error {
	text := strings.NewReplacer(
		"--replace", "replace: true", "--as ALIAS", "another alias", "--package", "package", "--remote", "remote", "--env", "env", "--header", "headers",
		"--arg", "arguments", "--var", "variables", "--pre", "a @VERSION", "another ALIAS", "another alias",
	).Replace(err.Error())
	return errors.New(text)
}

// next returns what is left to do after an addition.
func next(res map[string]any) []string {
	var todo, names []string
	required, _ := res["required"].([]any)
	for _, r := range required {
		member, _ := r.(map[string]any)
		if name, ok := member["name"].(string); ok {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		todo = append(todo, "The person sets "+strings.Join(names, ", ")+" in the environment in which the host starts, as with export NAME=VALUE before it. Do not ask for the values.")
	}
	return append(todo, "check_server "+fmt.Sprint(res["alias"])+" reports whether it works. A running mcpctl serve has it already.")
}

// approve asks a person about an entry.
func (s *server) approve(ctx context.Context, c *runtimetest.Call, p adding.Proposal, command string) error {
	if places := doctor.LiteralSecrets(p.Plan.Entry); p.ByHand && len(places) > 0 {
		return fmt.Errorf("%s looks like a secret. Write ${NAME} instead, which is taken from the environment variable NAME", strings.Join(places, ", "))
	}
	message, err := s.message(p)
	if err != nil {
		return &refused{"This cannot be shown to a person as it is: " + err.Error() + ".", ""}
	}
	return s.consent.ask(ctx, s.gone, c, proposal{message: message, field: "Add " + p.Plan.Alias, exact: p.Plan.Entry, command: command})
}

func (s *server) remove(ctx context.Context, c *runtimetest.Call, in oneServer) (any, error) {
	if err := config.CheckAlias(in.Server); err != nil {
		return nil, err
	}
	shown, err := s.read(ctx, []string{"get", "--json", "--", in.Server})
	if err != nil {
		return nil, err
	}
	entry, _ := shown.(map[string]any)["entry"].(map[string]any)
	e, err := config.Parse("", marshal(map[string]any{"mcpServers": map[string]any{in.Server: entry}}))
	if err != nil {
		return nil, err
	}
	before, _ := e.Entry(in.Server)
	words := []string{"remove", in.Server}
	err = s.consent.ask(ctx, s.gone, c, proposal{
		message: "An agent asks to remove an MCP server from mcpctl.\n\nName: " + code(in.Server) +
			"\nIt runs or contacts: " + code(plain.Clip(plain.Line(before.Target()), maxShown)) + "\nFile: " + code(plain.Line(s.o.ConfigPath)),
		field: "Remove " + in.Server, exact: marshal(entry), command: "mcpctl " + clitool.Line(words),
	})
	if err != nil {
		return nil, err
	}
	return s.read(ctx, []string{"remove", "--json", in.Server})
}
