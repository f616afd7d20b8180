package generating

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// ask gets the source of each package: from all servers concurrently, or from the
// file of --from. Of several failures it returns the first server's and prints the
// others.
func (r *run) ask(ctx context.Context, servers []string) ([]*generation, error) {
	if r.o.From == "" && !r.AdHoc {
		if err := r.Prepare(); err != nil {
			return nil, err
		}
	}
	all := make([]*generation, len(servers))
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		all[i] = &generation{server: server}
		wg.Go(func() { errs[i] = r.askOne(ctx, all[i]) })
	}
	wg.Wait()
	var first error
	for i, err := range errs {
		switch {
		case err == nil:
		case first == nil:
			first = r.Of(servers[i], err)
		case ctx.Err() == nil:
			r.UI.Info("warning: %s: %v", servers[i], err)
		}
	}
	return all, first
}

// askOne sets a generation's list and recording.
func (r *run) askOne(ctx context.Context, g *generation) error {
	choose := func() (err error) {
		g.list.Tools, err = selectTools(g.list.Tools, r.o.Tools)
		return err
	}
	if r.o.From != "" {
		data, err := r.readFrom(ctx, r.o.From)
		if err != nil {
			return err
		}
		if g.list, err = gogen.ParseTools(data); err != nil {
			return fromError(r.o.From, err)
		}
		return choose()
	}
	return r.With(ctx, g.server, func(s *Server) (err error) {
		if g.list, err = r.offers(ctx, g.server, s); err != nil {
			return err
		}
		if err = choose(); err != nil || r.o.Record == "" {
			return err
		}
		g.recorded, err = (&recorder{r.Host, g.server, s}).run(ctx, g.list)
		return err
	})
}

// offers lists what a server offers. Only its tools are required; others that it
// lacks or refuses to list are left out.
func (h *Host) offers(ctx context.Context, server string, s *Server) (*gogen.List, error) {
	info := s.Info()
	l := &gogen.List{Implementation: info.Implementation, Protocol: info.Version}
	// Side by side: a server that is far away is waited for once.
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() (err error) {
		var refused *runtime.Error
		if l.Tools, err = s.listTools(ctx); !info.Has("tools") && errors.As(err, &refused) {
			return nil
		}
		return err
	})
	all.Go(func() (err error) {
		l.Prompts, err = offered(ctx, h, server, s, "prompts", "prompts", s.listPrompts)
		return err
	})
	all.Go(func() (err error) {
		l.Resources, err = offered(ctx, h, server, s, "resources", "resources", s.listResources)
		return err
	})
	all.Go(func() (err error) {
		l.Templates, err = offered(ctx, h, server, s, "resources", "resource templates", s.listResourceTemplates)
		return err
	})
	return l, all.Wait()
}

// offered lists the items of a capability. A server that answers with an error has
// none; one that does not answer fails the run, which would otherwise remove
// functions that still exist.
func offered[T any](ctx context.Context, h *Host, server string, s *Server, capability, what string, list func(context.Context) ([]T, error)) ([]T, error) {
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
		h.UI.Info("warning: %s: %s are left out: %v", server, what, err)
		return nil, nil
	}
	return out, err
}

// readFrom reads the file of --from, which may be a pipe.
func (r *run) readFrom(ctx context.Context, name string) ([]byte, error) {
	if name == "-" {
		return r.Stdin(ctx)
	}
	data, err := args.ReadFile(name, args.MaxInput)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ui.Usage("--from %s: no such file", name)
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
	if ui.HintOf(err) != "" {
		return err
	}
	return (&ui.Error{Err: err}).WithHint("mcpctl tools SERVER --json >FILE writes one that can be read")
}

// mostNear is how many tools are named for a pattern that resembles them.
const mostNear = 3

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
			return nil, ui.Usage("--tools %s: %w", pattern, err)
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
			e := ui.Usage("--tools %q matches no tool", pattern)
			switch near := plain.Nearest(pattern, names, mostNear); {
			case len(near) > 0:
				return nil, e.WithHint("there is %s", strings.Join(near, ", "))
			case len(names) > manyTools:
				return nil, e.WithHint("there are %s and %d more", strings.Join(names[:manyTools], ", "), len(names)-manyTools)
			case len(names) > 0:
				return nil, e.WithHint("there is %s", strings.Join(names, ", "))
			}
			return nil, e.WithHint("there is no tool at all")
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
