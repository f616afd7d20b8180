package generating

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// LangGo is the language of generated packages, [Options.Lang] where nothing else is asked for.
const LangGo = string(declare.Go)

// maxDeclared bounds a file that is compared, in bytes.
const maxDeclared = 64 << 20

// Declares reports whether one file is asked for with the tools as serve shows them.
func (o *Options) Declares() bool { return o.Lang != LangGo || o.View != "" }

// language returns the language, which with --out tools.d.ts is that of types alone.
func (o *Options) language(servers []string, h *Host) (l declare.Language, err error) {
	l = declare.Language(o.Lang)
	if l == declare.TypeScript && strings.HasSuffix(o.Out, "."+string(declare.Types)) {
		l = declare.Types
	}
	switch {
	case l == declare.Types && o.Lang != string(declare.TypeScript), !slices.Contains(declare.Languages(), l):
		err = ui.Usage("--lang %q: it is go, ts or py", o.Lang)
	case o.Package != "" || o.From != "" || o.Standalone || o.Record != "" || len(o.Tools) > 0 || o.Number != NumberFloat:
		err = ui.Usage("--package, --from, --tools, --standalone, --record and --number are for packages of Go").WithHint("leave them out, or --lang and --view")
	case h.AdHoc:
		err = ui.Usage("serve shows servers of servers.json only").WithHint("mcpctl add adds one")
	case o.View != "" && len(servers) > 0:
		err = ui.Usage("a view is of all servers: leave out %s, or --view", plain.JoinOr(servers))
	case o.View == "" && len(servers) == 0:
		err = ui.Usage("generate: which server?").WithHint("mcpctl list shows the configured ones; --view is a view of all")
	case o.Check && o.Out == "":
		err = ui.Usage("--check compares a file: name it with --out")
	case o.View != "":
		_, err = find.ViewNamed(h.Serve.Views, o.View)
	}
	return l, err
}

// Declare writes the tools of a view, or of some servers, as one file: as serve shows them. All
// servers have to answer.
func Declare(ctx context.Context, h Host, o Options, servers []string) error {
	l, err := o.language(servers, &h)
	if err != nil {
		return err
	}
	enabled, err := h.Enabled()
	if err != nil {
		return err
	}
	if err := h.Prepare(); err != nil {
		return err
	}
	var names []string // of all: names of tools depend on them
	trusted := map[string]bool{}
	for _, e := range enabled {
		names = append(names, e.Name)
		trusted[e.Name] = e.TrustAnnotations
	}
	asked := servers
	if o.View != "" {
		asked = names
	}
	lists, err := h.toolLists(ctx, asked)
	if err != nil {
		return err
	}
	all := find.Of(h.Serve, names, lists)
	s := declare.Source{Of: "the servers " + strings.Join(servers, ", ")}
	shown := all.All()
	if o.View != "" {
		s.Of = "the view " + o.View
		shown, _ = all.In(h.Serve.Views.View(o.View), func(server string) bool { return trusted[server] })
	}
	for _, t := range shown {
		s.Tools = append(s.Tools, declare.Tool{Name: t.Name, Definition: t.Definition})
	}
	code := s.Write(l)
	if o.Out == "" {
		_, err := h.UI.Out.Write(code)
		return err
	}
	return h.writeDeclared(o, code, len(s.Tools))
}

// toolLists asks servers for their tools, side by side.
func (h *Host) toolLists(ctx context.Context, servers []string) ([]find.List, error) {
	lists := make([]find.List, len(servers))
	all, ctx := errgroup.WithContext(ctx)
	for i, server := range servers {
		lists[i].Server = server
		all.Go(func() error {
			return h.Of(server, h.With(ctx, server, func(s *Server) error {
				tools, err := s.listTools(ctx)
				for _, t := range tools {
					lists[i].Items = append(lists[i].Items, t.Raw)
				}
				return err
			}))
		})
	}
	return lists, all.Wait()
}

// writeDeclared writes a file, or with --check compares it. A file that is not of mcpctl's
// making stays.
func (h *Host) writeDeclared(o Options, code []byte, tools int) error {
	old, err := atomicfile.Read(o.Out, maxDeclared)
	file := OutputFile{Path: o.Out, Status: Written}
	switch {
	case err == nil && bytes.Equal(old, code):
		file.Status = Unchanged
	case err == nil && !bytes.Contains(old[:min(len(old), 100)], []byte(declare.Head)):
		return ui.Usage("%s was not written by mcpctl, and stays as it is", o.Out).WithHint("choose another file with --out")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case o.Check:
		return &ui.Error{Kind: "drift", Err: fmt.Errorf("generated files differ: %s", o.Out), Remedy: "run the same command without --check"}
	default:
		if err := atomicfile.Write(o.Out, code, 0o644); err != nil {
			return WriteError("--out", err)
		}
	}
	if h.UI.WantJSON() {
		return h.UI.EncodeJSON(map[string]any{"files": []OutputFile{file}, "tools": tools})
	}
	_, err = fmt.Fprintf(h.UI.Out, "%-9s  %s\n", file.Status, ui.CleanLine(file.Path))
	return err
}
