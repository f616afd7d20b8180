package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/nearest"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// ask gets the source of each package: from all servers concurrently, or from the
// file of --from. Of several failures it returns the first server's and prints the
// others.
func (c *generateCommand) ask(ctx context.Context, servers []string) ([]*generation, error) {
	if c.f.from == "" && !c.adhoc.given() {
		if err := c.shareConfig(); err != nil {
			return nil, err
		}
	}
	all := make([]*generation, len(servers))
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		all[i] = &generation{server: server, standalone: c.f.standalone}
		wg.Go(func() { errs[i] = c.askOne(ctx, all[i]) })
	}
	wg.Wait()
	var first error
	for i, err := range errs {
		switch {
		case err == nil:
		case first == nil:
			first = c.withServer(servers[i], err)
		case ctx.Err() == nil:
			c.ui.Note("warning: %s: %v", servers[i], err)
		}
	}
	return all, first
}

// askOne sets a generation's list and recording.
func (c *generateCommand) askOne(ctx context.Context, g *generation) error {
	choose := func() (err error) {
		g.list.Tools, err = selectTools(g.list.Tools, c.f.tools)
		return err
	}
	if c.f.from != "" {
		data, err := c.readFrom(ctx, c.f.from)
		if err != nil {
			return err
		}
		if g.list, err = gogen.ParseTools(data); err != nil {
			return fromError(c.f.from, err)
		}
		return choose()
	}
	return c.with(ctx, []string{g.server}, func(s *session, _ []string) (err error) {
		if g.list, err = s.offers(ctx); err != nil {
			return err
		}
		if err = choose(); err != nil || c.f.record == "" {
			return err
		}
		g.recorded, err = (&recorder{s}).run(ctx, g.list)
		return err
	})
}

// offers lists what a server offers. Only its tools are required; others that it
// lacks or refuses to list are left out.
func (s *session) offers(ctx context.Context) (*gogen.List, error) {
	info := s.Info()
	l := &gogen.List{Implementation: info.Implementation, Protocol: info.Version}
	var err error
	if l.Tools, err = s.ListTools(ctx); err != nil {
		if refused := (*runtime.Error)(nil); info.Has("tools") || !errors.As(err, &refused) {
			return nil, err
		}
	}
	if l.Prompts, err = offered(ctx, s, "prompts", "prompts", s.ListPrompts); err != nil {
		return nil, err
	}
	if l.Resources, err = offered(ctx, s, "resources", "resources", s.ListResources); err != nil {
		return nil, err
	}
	l.Templates, err = offered(ctx, s, "resources", "resource templates", s.ListResourceTemplates)
	return l, err
}

// offered lists the items of a capability. A server that answers with an error has
// none; one that does not answer fails the run, which would otherwise remove
// functions that still exist.
func offered[T any](ctx context.Context, s *session, capability, what string, list func(context.Context) ([]T, error)) ([]T, error) {
	if !s.Info().Has(capability) {
		return nil, nil
	}
	out, err := list(ctx)
	var refused *runtime.Error
	var malformed *runtime.ProtocolError
	switch {
	case errors.As(err, &refused) && refused.Code == runtime.CodeMethodNotFound:
		return nil, nil
	case errors.As(err, &refused), errors.As(err, &malformed):
		s.a.ui.Note("warning: %s: %s are left out: %v", s.server, what, err)
		return nil, nil
	}
	return out, err
}

// readFrom reads the file of --from, which may be a pipe.
func (c *generateCommand) readFrom(ctx context.Context, name string) ([]byte, error) {
	if name == "-" {
		return c.readStdin(ctx)
	}
	data, err := args.ReadFile(name, args.MaxInput)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("--from %s: no such file", name)
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", name, err)
	}
	return data, nil
}

// fromError returns the error of a file without a list, with a remedy for a lock
// file.
func fromError(name string, err error) error {
	if name == "-" {
		name = "standard input"
	}
	err = fmt.Errorf("%s: %w", name, err)
	if own := hinter(nil); errors.As(err, &own) {
		return err
	}
	return (&Error{Err: err}).withHint("mcpctl tools SERVER --json >FILE writes one that can be read")
}

// manyTools is how many tools are named for a pattern that resembles none.
const manyTools = 8

// selectTools returns the tools that match one of the patterns, in which * is any
// text and ? any character. A pattern without a match is an error.
func selectTools(tools []runtime.Tool, patterns []string) ([]runtime.Tool, error) {
	if len(patterns) == 0 {
		return tools, nil
	}
	keep := make([]bool, len(tools))
	for _, pattern := range patterns {
		re, err := find.Glob(pattern)
		if err != nil {
			return nil, usagef("--tools %s: %w", pattern, err)
		}
		found := false
		for i, t := range tools {
			if re.MatchString(t.Name) {
				keep[i], found = true, true
			}
		}
		if !found {
			names := make([]string, len(tools))
			for i, t := range tools {
				names[i] = t.Name
			}
			e := usagef("--tools %q matches no tool", pattern)
			switch near := nearest.Names(pattern, names, nearestNames); {
			case len(near) > 0:
				return nil, e.withHint("there is %s", strings.Join(near, ", "))
			case len(names) > manyTools:
				return nil, e.withHint("there are %s and %d more", strings.Join(names[:manyTools], ", "), len(names)-manyTools)
			case len(names) > 0:
				return nil, e.withHint("there is %s", strings.Join(names, ", "))
			}
			return nil, e.withHint("there is no tool at all")
		}
	}
	var out []runtime.Tool
	for i, t := range tools {
		if keep[i] {
			out = append(out, t)
		}
	}
	return out, nil
}
