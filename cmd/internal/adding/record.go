package adding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Record adds a record of the registry or a local document, and returns its alias.
func (c *Adder) Record(ctx context.Context, arg string) (string, error) {
	asker := c.Asker()
	c.bundles.store = c.Bundles
	defer c.bundles.close(ctx)
	if err := c.offerPlaceholders(ctx, asker, config.CleanAlias(cmp.Or(c.Options.As, path.Base(arg))), false); err != nil {
		return "", err
	}
	o, err := c.scaffoldOptions()
	if err != nil {
		return "", err
	}
	file, err := c.Load() // before the network: a broken file is an error
	if err != nil {
		return "", err
	}
	rec, err := c.findOne(ctx, asker, file, arg)
	if err != nil {
		return "", err
	}
	o.Bundle = c.bundles.reader(ctx, c.Options.Args)
	if o.Alias = c.Options.As; o.Alias != "" {
		o.Alias = c.cleanAlias(o.Alias)
	}
	plan, err := rec.Plan(o)
	if err != nil {
		return "", err
	}
	_, silent := asker.(*ui.NonInteractive)
	talk := !silent && !c.Options.Yes // ask the user
	if talk {
		if plan, err = c.askAlias(ctx, asker, file, rec, o, plan); err != nil {
			return "", err
		}
		o.Alias = plan.Alias
		if plan, err = c.askValues(ctx, asker, rec, o, plan); err != nil {
			return "", err
		}
	}
	if err := config.CheckAlias(plan.Alias); err != nil {
		return "", &ui.Error{Err: err, Remedy: "choose a name with --as ALIAS"}
	}
	if !c.bundles.holds(plan.Runner) {
		checkRunner(plan)
	}
	add := &addition{plan: plan, title: rec.recordTitle(plan)}
	if talk && !c.Options.DryRun {
		if err := c.confirm(ctx, asker, add); err != nil {
			return "", err
		}
	}
	if err := c.write(ctx, add); err != nil {
		return "", err
	}
	return plan.Alias, c.announce(add)
}

// findOne finds the record; if several servers have a short name it asks for one.
func (c *Adder) findOne(ctx context.Context, asker ui.Asker, file *config.File, arg string) (*Found, error) {
	if isBundle(arg) && c.Bundles != nil {
		return c.bundles.file(arg)
	}
	rec, err := c.Find(ctx, arg, c.Options.Pre)
	var ambiguous *registry.AmbiguousError
	if !errors.As(err, &ambiguous) {
		return rec, err
	}
	options := make([]string, len(ambiguous.Found))
	names := make([]string, len(ambiguous.Found))
	for i := range ambiguous.Found {
		options[i] = Line(&ambiguous.Found[i])
		names[i] = ambiguous.Found[i].Server.Name
	}
	at, err := asker.Select(ctx, ui.Question{
		Message: fmt.Sprintf("which server %q is meant", ambiguous.Name),
		Flag:    "mcpctl add " + strings.Join(names, " or "),
	}, options)
	if silent, ok := asker.(*ui.NonInteractive); ok {
		if !c.UI.JSON { // which prints one line, with the names
			for _, o := range options {
				c.UI.Info("  %s", o)
			}
		}
		alias := scaffold.Alias(ambiguous.Name)
		if _, taken := file.Entry(alias); taken && c.Options.As == "" && !c.Options.Replace {
			_, _ = asker.Input(ctx, aliasQuestion(alias)) // recorded for the error
		}
		return nil, silent.Missing()
	}
	if err != nil {
		return nil, err
	}
	name := names[at]
	if _, version := registry.SplitVersion(arg); version != "" {
		name += "@" + version
	}
	return c.Find(ctx, name, c.Options.Pre)
}

func aliasQuestion(alias string) ui.Question {
	return ui.Question{
		Message: fmt.Sprintf("%s is taken or reserved; another name for the entry", alias),
		Flag:    "--as ALIAS or --replace",
	}
}

// askAlias asks for another alias if the plan's is taken.
func (c *Adder) askAlias(ctx context.Context, asker ui.Asker, file *config.File, rec *Found, o scaffold.Options, plan *scaffold.Plan) (*scaffold.Plan, error) {
	free := func(alias string) error {
		if err := config.CheckAlias(alias); err != nil {
			return err
		}
		if _, taken := file.Entry(alias); taken && !c.Options.Replace {
			return &config.ExistsError{Server: alias}
		}
		return nil
	}
	if free(plan.Alias) == nil {
		return plan, nil
	}
	q := aliasQuestion(plan.Alias)
	q.Check = free
	alias, err := asker.Input(ctx, q)
	if err != nil {
		return nil, err
	}
	o.Alias = alias
	return rec.Plan(o)
}

// askValues asks for the values of required inputs that are not secret. Without an
// answer a placeholder stays.
func (c *Adder) askValues(ctx context.Context, asker ui.Asker, rec *Found, o scaffold.Options, plan *scaffold.Plan) (*scaffold.Plan, error) {
	given, err := c.AskValues(ctx, asker, plan.Required, &o)
	if err != nil || !given {
		return plan, err
	}
	return rec.Plan(o)
}

// AskValues asks for the values of inputs that are neither secret nor set in the
// environment, and adds the answers to the options. given reports whether there are any.
func (h *Host) AskValues(ctx context.Context, asker ui.Asker, required []scaffold.Requirement, o *scaffold.Options) (given bool, err error) {
	for _, r := range required {
		if r.Secret {
			continue
		}
		if value, set := h.lookup(r.Name); set && value != "" {
			continue
		}
		value, err := askValue(ctx, asker, r)
		if err != nil {
			return given, err
		}
		if value == "" {
			continue
		}
		given = true
		g := scaffold.InputValue{Name: r.Input, Value: config.Escape(value)}
		switch r.Kind {
		case scaffold.KindEnv:
			o.Env = append(o.Env, g)
		case scaffold.KindArg:
			o.Args = append(o.Args, g)
		case scaffold.KindVar:
			o.Vars = append(o.Vars, g)
		case scaffold.KindHeader:
			o.Headers = append(o.Headers, g)
		}
	}
	return given, nil
}

func askValue(ctx context.Context, asker ui.Asker, r scaffold.Requirement) (string, error) {
	later := "(later: a placeholder ${" + r.Name + "})"
	if len(r.Choices) > 0 {
		options := append(append([]string(nil), r.Choices...), later)
		at, err := asker.Select(ctx, ui.Question{Message: r.Input, Help: r.Description, Flag: r.Flag()}, options)
		if err != nil || at == len(options)-1 {
			return "", err
		}
		return options[at], nil
	}
	message := r.Input
	if r.Description != "" {
		message += " - " + r.Description
	}
	if r.Example != "" {
		message += ", such as " + r.Example
	}
	return asker.Input(ctx, ui.Question{Message: message + " " + "(empty: later, as ${" + r.Name + "})", Flag: r.Flag()})
}

// confirm shows the entry and asks whether to write it.
func (c *Adder) confirm(ctx context.Context, asker ui.Asker, add *addition) error {
	_, _ = fmt.Fprintf(c.UI.Err, "%s\n%s\n", ui.CleanLine(add.title), ui.Clean(config.Format(c.shown(add))))
	for _, w := range add.plan.Warnings {
		_, _ = fmt.Fprintln(c.UI.Err, "warning: "+ui.CleanLine(w))
	}
	yes, err := asker.Confirm(ctx, ui.Question{Message: "Add it to " + c.ConfigPath + " as " + add.plan.Alias, Flag: "--yes"})
	if err != nil {
		return err
	}
	if !yes {
		return errors.New("not added")
	}
	add.shown = true
	return nil
}

// checkRunner warns if the program that runs the package is not installed.
func checkRunner(p *scaffold.Plan) {
	if p.Runner == "" {
		return
	}
	if _, err := exec.LookPath(p.Runner); err != nil {
		p.Warnings = append(p.Warnings, p.Runner+" is not on the PATH of this machine")
	}
}

func (rec *Found) recordTitle(p *scaffold.Plan) string {
	s := rec.Record.Server
	title := strings.TrimSpace(s.Name + " " + s.Version)
	return title + ", " + p.Type + " " + p.Reference
}

// lookup is os.LookupEnv of the run's environment, where empty is unset.
func (h *Host) lookup(name string) (string, bool) {
	v := h.Getenv(name)
	return v, v != ""
}
