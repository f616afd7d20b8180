package adding

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/scaffold"
)

// offerPlaceholders asks of values that look secret, and of $NAME, whether a placeholder
// is written in their place. Where nobody is asked they stay, with a warning if warn is
// set.
func (c *Adder) offerPlaceholders(ctx context.Context, asker ui.Asker, alias string, warn bool) error {
	if c.Options.Yes {
		asker = &ui.NonInteractive{}
	}
	for i := range c.Options.Env {
		if err := c.offerPlaceholder(ctx, asker, "--env", &c.Options.Env[i], c.Options.Env[i].Name, warn); err != nil {
			return err
		}
	}
	for i := range c.Options.Headers {
		g := &c.Options.Headers[i]
		if err := c.offerPlaceholder(ctx, asker, "--header", g, scaffold.PlaceholderName(alias, g.Name), warn); err != nil {
			return err
		}
	}
	return nil
}

func (c *Adder) offerPlaceholder(ctx context.Context, asker ui.Asker, flag string, g *scaffold.InputValue, variable string, warn bool) error {
	var what, form string
	bare, isBare := config.BareVariable(g.Value)
	switch {
	case g.Placeholder:
		return nil
	case isBare:
		form = strings.Replace(g.Value, "$"+bare, "${"+bare+"}", 1)
		what = flag + " " + g.Name + " has $" + bare + ", which stays as it is"
	case config.LooksSecret(g.Name, g.Value):
		form = g.Value[:secret.AfterScheme(g.Value)] + "${" + variable + "}"
		what = flag + " " + g.Name + " looks like a secret, and its text goes into servers.json"
	default:
		return nil
	}
	yes, err := asker.Confirm(ctx, ui.Question{Message: what + ". Write " + form + " in its place", Help: "${NAME} is replaced by the environment variable NAME when the server is used."})
	switch {
	case errors.Is(err, ui.ErrNoAnswer) && warn:
		c.UI.Info("warning: %s", what)
		c.UI.Info("hint: %s %s", flag, clitool.Line([]string{placeholderWord(g.Name, form)}))
	case errors.Is(err, ui.ErrNoAnswer):
	case err != nil:
		return err
	case yes:
		g.Value = form
	}
	return nil
}

// placeholderWord returns the word behind a flag that gives a placeholder.
func placeholderWord(name, form string) string {
	if form == "${"+name+"}" {
		return name
	}
	return name + "=" + form
}

// warnLiterals warns of what looks secret elsewhere in an entry by hand.
func warnLiterals(plan *scaffold.Plan) {
	for _, place := range doctor.LiteralSecrets(plan.Entry) {
		if !strings.HasPrefix(place, "env.") && !strings.HasPrefix(place, "headers.") {
			plan.Warnings = append(plan.Warnings, place+" looks like a secret, and its text is in servers.json; ${NAME} in its place is taken from the environment")
		}
	}
}

// checkClearText refuses an entry that would send credentials over http to another
// machine, unless --allow-insecure-http has it say so.
func (c *Adder) checkClearText(plan *scaffold.Plan) error {
	name, err := plain.JSON(plan.Alias)
	if err != nil {
		return err
	}
	f, err := config.Parse("", slices.Concat([]byte(`{"mcpServers":{`), name, []byte{':'}, plan.Entry, []byte("}}")))
	if err != nil {
		return err
	}
	entry, _ := f.Entry(plan.Alias)
	err = dial.ClearText(entry)
	if err == nil || !c.AllowInsecureHTTP {
		return err
	}
	plan.Entry = append(plan.Entry[:len(plan.Entry)-1:len(plan.Entry)-1], `,"allowInsecureHttp":true}`...)
	return nil
}
