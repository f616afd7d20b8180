package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// generateFlags are the flags of mcpctl generate.
type generateFlags struct {
	out   string
	pkg   string
	from  string
	check bool
	tools []string
}

func newGenerate(a *app) *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate SERVER...",
		Short: "Write a typed Go client for a server's tools",
		Long: `Write a Go package for each server: one parameter struct and one method a tool,
made from what the server lists. The package imports mcpctl's runtime library
and the standard library only. A second run writes the same bytes; files that
would not change are not touched.

Beside the code it writes tools.json, what the code was made from. With --from,
a file like that (or any tools/list result) takes the server's place, and SERVER
only names the package; it need not be configured.`,
		Example: `  mcpctl generate everything
  mcpctl generate fs --out ./internal/fs --package fs
  mcpctl generate fs --from ./generated/fs/tools.json --check`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(a, args); err != nil {
				return err
			}
			return a.generate(cmd.Context(), args, &f)
		},
	}
	a.completeServers(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "the package's `DIR` (default ./generated/SERVER); with several servers their parent")
	fl.StringVar(&f.pkg, "package", "", "the package's `NAME` (default from the server's)")
	fl.StringVar(&f.from, "from", "", "read the tools from a `FILE` (- is standard input) instead of the server")
	fl.BoolVar(&f.check, "check", false, "write nothing; exit 10 if a file would change")
	fl.StringArrayVar(&f.tools, "tools", nil, "only tools whose name matches this `GLOB` (repeatable)")
	return cmd
}

// validate checks words and flags before anything is connected.
func (f *generateFlags) validate(a *app, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("generate: which server?").withHint("mcpctl list shows the configured ones")
	case len(args) > 1 && f.pkg != "":
		return usagef("--package names one package, but there are %d servers", len(args))
	case len(args) > 1 && f.from != "":
		return usagef("--from is one server's tools, but there are %d servers", len(args))
	case len(args) > 1 && a.settings.URL != "":
		return usagef("--url is one server, but there are %d names", len(args))
	}
	seen := map[string]string{}
	for _, server := range args {
		if err := config.CheckAlias(server); err != nil {
			return usagef("%w", err)
		}
		name := f.packageName(server)
		if err := gogen.CheckPackageName(name); err != nil {
			return usagef("%w", err).withHint("choose one with --package")
		}
		if other, ok := seen[strings.ToLower(server)]; ok {
			return usagef("%s and %s would be written to the same folder", other, server)
		}
		seen[strings.ToLower(server)] = server
	}
	return nil
}

func (f *generateFlags) packageName(server string) string {
	if f.pkg != "" {
		return f.pkg
	}
	return gogen.PackageName(server)
}

// dir is where a server's package goes.
func (f *generateFlags) dir(server string, several bool) string {
	switch {
	case f.out == "":
		return filepath.Join("generated", server)
	case several:
		return filepath.Join(f.out, server)
	}
	return filepath.Clean(f.out)
}

// generatedPackage is one package in the JSON answer of generate.
type generatedPackage struct {
	Server  string          `json:"server"`
	Package string          `json:"package"`
	Dir     string          `json:"dir"`
	Files   []generatedFile `json:"files"`
	Tools   int             `json:"tools"`
}

// generate makes all packages before it writes the first, so that a server
// that fails leaves everything as it was.
func (a *app) generate(ctx context.Context, servers []string, f *generateFlags) error {
	type job struct {
		answer generatedPackage
		plan   *filePlan
	}
	var jobs []job
	for _, server := range servers {
		list, err := a.toolList(ctx, server, f)
		if err != nil {
			return a.about(server, err)
		}
		tools, err := selectTools(list.Tools, f.tools)
		if err != nil {
			return err
		}
		out, err := gogen.Generate(gogen.Input{
			Server: server, Package: f.packageName(server), Implementation: list.Implementation, Tools: tools,
		})
		if err != nil {
			return a.about(server, err)
		}
		a.warnGenerated(server, list, out)
		dir := f.dir(server, len(servers) > 1)
		plan, err := planFiles(dir, out.Files)
		if err != nil {
			return a.about(server, err)
		}
		jobs = append(jobs, job{generatedPackage{Server: server, Package: out.Package, Dir: dir, Tools: out.Tools}, plan})
	}
	drift := false
	answers := make([]generatedPackage, 0, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if f.check {
			j.answer.Files = j.plan.check()
			drift = drift || j.plan.differs()
		} else {
			var err error
			if j.answer.Files, err = j.plan.write(); err != nil {
				return a.about(j.answer.Server, err)
			}
		}
		answers = append(answers, j.answer)
	}
	if err := a.printGenerated(answers); err != nil {
		return err
	}
	if drift {
		return a.driftError(answers)
	}
	return nil
}

// toolList reads the file of --from or asks the server.
func (a *app) toolList(ctx context.Context, server string, f *generateFlags) (*gogen.List, error) {
	if f.from != "" {
		data, err := a.readFrom(f.from)
		if err != nil {
			return nil, err
		}
		list, err := gogen.ParseTools(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.from, err)
		}
		return list, nil
	}
	var list gogen.List
	err := a.with(ctx, []string{server}, func(s *session, _ []string) (err error) {
		list.Implementation = s.Info().Implementation
		list.Tools, err = s.ListTools(ctx)
		return err
	})
	return &list, err
}

func (a *app) readFrom(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.ui.In)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usagef("--from %s: no such file", name)
	}
	return data, err
}

// selectTools keeps the tools that match one of the patterns, in which * is
// any text and ? any character. A pattern that matches nothing is a mistake.
func selectTools(tools []runtime.Tool, patterns []string) ([]runtime.Tool, error) {
	if len(patterns) == 0 {
		return tools, nil
	}
	keep := make([]bool, len(tools))
	for _, pattern := range patterns {
		quoted := regexp.QuoteMeta(pattern)
		re, err := regexp.Compile(`(?s)^` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted) + `$`)
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
			e := usagef("--tools %s matches no tool", pattern)
			if near := schema.Nearest(pattern, names, nearestNames); len(near) > 0 {
				return nil, e.withHint("there is %s", strings.Join(near, ", "))
			}
			return nil, e
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

// maxWarnings is how many warnings are told one by one without -v.
const maxWarnings = 10

// warnGenerated tells on stderr what could not be typed.
func (a *app) warnGenerated(server string, list *gogen.List, out *gogen.Output) {
	if a.ui.Quiet {
		return
	}
	say := func(text string) { fmt.Fprintln(a.ui.Err, "warning: "+ui.CleanLine(server+": "+text)) }
	if list.More {
		say("the file is one page of several (it has a nextCursor); tools on the others are missing")
	}
	if out.Tools == 0 {
		say("there are no tools; the client has no methods")
	}
	for i, w := range out.Warnings {
		if i == maxWarnings && a.settings.Verbose == 0 {
			say(fmt.Sprintf("%d more warnings; -v shows all", len(out.Warnings)-i))
			return
		}
		say(w.String())
	}
}

func (a *app) printGenerated(answers []generatedPackage) error {
	if a.ui.WantJSON() {
		return a.ui.EncodeJSON(map[string]any{"packages": answers})
	}
	for _, p := range answers {
		for _, file := range p.Files {
			if _, err := fmt.Fprintf(a.ui.Out, "%-9s  %s\n", file.Status, file.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// driftError says which files --check found different.
func (a *app) driftError(answers []generatedPackage) error {
	var parts []string
	for _, p := range answers {
		for _, file := range p.Files {
			if file.Status != statusUnchanged {
				parts = append(parts, file.Path+" ("+file.Status+")")
			}
		}
	}
	slices.Sort(parts)
	const most = 8
	text := strings.Join(parts[:min(len(parts), most)], ", ")
	if len(parts) > most {
		text += fmt.Sprintf(" and %d more", len(parts)-most)
	}
	e := &Error{Code: exitDrift, Err: errors.New("generated files differ: " + text)}
	return e.withHint("run the same command without --check")
}
