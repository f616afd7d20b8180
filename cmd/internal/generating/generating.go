// Package generating asks servers what they offer, and writes a Go package for each.
package generating

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// generateGCPercent is the GC percentage while code is generated.
const generateGCPercent = 50

// Options are what the user asks for.
type Options struct {
	Out        string
	Package    string
	From       string // a file in place of the server, "-" is standard input
	Check      bool
	Tools      []string
	Standalone bool
	Record     string
	Number     string
	// Lang is the language. That of a package of Go is [LangGo]; with others, or with a View, the
	// tools are written as serve shows them, into one file.
	Lang string
	View string
	// Given reports which of --package, --standalone and --number are there. The lock file
	// remembers the others.
	Given func(flag string) bool
}

// remembering returns the options with what is not given as it is in a lock file; nil is none.
func (o Options) remembering(lock *gogen.Lock) Options {
	if lock == nil {
		return o
	}
	if !o.Given("package") {
		o.Package = lock.Kind.Package
	}
	if !o.Given("standalone") {
		o.Standalone = lock.Kind.Standalone
	}
	if !o.Given("number") && lock.Kind.Decimals {
		o.Number = NumberJSON
	}
	return o
}

// Values of Options.Number.
const (
	NumberFloat = "float64"
	NumberJSON  = "json"
)

// Host is what a run needs of the program that it runs in.
type Host struct {
	UI      *ui.UI
	Verbose bool
	// AdHoc says that the server is in no file.
	AdHoc bool
	// Headers are those that every request has.
	Headers map[string]string
	// Prepare is called before several servers are connected side by side.
	Prepare func() error
	// With connects to a server for as long as use runs.
	With func(ctx context.Context, server string, use func(*Server) error) error
	// Entry returns the entry of a server.
	Entry func(server string) (config.Entry, error)
	// Of adds the name of a server to its failure.
	Of func(server string, err error) error
	// Serve are the settings of serve, by which tools have their names, and Enabled its servers.
	Serve   settings.Serve
	Enabled func() ([]config.Entry, error)
	// Stdin reads standard input.
	Stdin func(context.Context) ([]byte, error)
}

// Validate checks servers and options before connecting.
func (o *Options) Validate(servers []string, adhoc bool) error {
	switch {
	case len(servers) == 0:
		return ui.Usage("generate: which server?").WithHint("mcpctl list shows the configured ones")
	case len(servers) > 1 && o.Package != "":
		return ui.Usage("--package names one package, but there are %d servers", len(servers))
	case len(servers) > 1 && o.From != "":
		return ui.Usage("--from is one server's tools, but there are %d servers", len(servers))
	case len(servers) > 1 && adhoc:
		return ui.Usage("--url, or a command behind --, is one server, but there are %d names", len(servers))
	case o.Number != NumberFloat && o.Number != NumberJSON:
		return ui.Usage("--number %s: it is float64 or json", o.Number)
	case o.Record != "" && o.From != "":
		return ui.Usage("--record asks the server, which --from replaces")
	case o.Record != "" && o.Check:
		return ui.Usage("--record writes files, which --check does not")
	}
	seen := map[string]string{}
	for _, server := range servers {
		if err := config.CheckAlias(server); err != nil {
			return ui.Usage("%w", err)
		}
		name := o.packageName(server)
		if err := gogen.CheckPackageName(name); err != nil {
			if o.Package != "" {
				return ui.Usage("--package: %w", err).WithHint("such as %s", gogen.PackageName(server))
			}
			return ui.Usage("%w", err).WithHint("choose one with --package")
		}
		if other, ok := seen[strings.ToLower(server)]; ok {
			return ui.Usage("%s and %s would be written to the same folder", other, server)
		}
		seen[strings.ToLower(server)] = server
	}
	return nil
}

func (o *Options) packageName(server string) string {
	if o.Package != "" {
		return o.Package
	}
	return gogen.PackageName(server)
}

// dir returns the directory of a server's package.
func (o *Options) dir(server string, several bool) string {
	if o.Out == "" {
		return filepath.Join("generated", server)
	}
	return folder(o.Out, server, several)
}

// folder returns the directory of one server: the given one, or one in it.
func folder(given, server string, several bool) string {
	if several {
		return filepath.Join(given, server)
	}
	return filepath.Clean(given)
}

// run is one run of mcpctl generate.
type run struct {
	Host
	o Options
}

// generation is the part of a run for one server.
type generation struct {
	server   string
	list     *gogen.List
	recorded *recording // nil without --record
	out      *gogen.Output
	plan     *OutputPlan
	answer   Package
	next     string // what to do with a new package, "" for one that was there
}

// Run generates the package of each server: all before it writes the first, so that a
// failing server changes nothing.
func Run(ctx context.Context, h Host, o Options, servers []string) error {
	r := &run{h, o}
	// A server of 1,000 tools takes 220 MB, not 250, when it is generated again.
	defer debug.SetGCPercent(debug.SetGCPercent(generateGCPercent))
	several := len(servers) > 1
	for _, server := range servers {
		if err := CheckFolder("--out", r.o.dir(server, several)); err != nil {
			return err
		}
		if r.o.Record != "" {
			if err := CheckFolder("--record", folder(r.o.Record, server, several)); err != nil {
				return err
			}
		}
	}
	all, err := r.ask(ctx, servers)
	if err != nil {
		return err
	}
	for _, g := range all {
		if err := r.prepare(g, r.o.dir(g.server, several)); err != nil {
			return r.Of(g.server, err)
		}
	}
	drift := false
	answers := make([]Package, 0, len(all))
	for _, g := range all {
		if r.o.Check {
			g.answer.Files = g.plan.Check()
			drift = drift || g.plan.Differs()
		} else if g.answer.Files, err = g.plan.Write(); err != nil {
			return r.Of(g.server, WriteError("--out", err))
		}
		if g.recorded != nil {
			if g.answer.Recorded, err = g.recorded.write(folder(r.o.Record, g.server, several)); err != nil {
				return r.Of(g.server, WriteError("--record", err))
			}
		}
		answers = append(answers, g.answer)
	}
	if err := r.printGenerated(answers, r.o.Check); err != nil {
		return err
	}
	if drift {
		return r.driftError(answers)
	}
	for _, g := range all {
		if g.next != "" && !r.o.Check && !r.UI.WantJSON() {
			r.UI.Info("next: %s; %s.New makes a client of a connection", g.next, g.out.Package)
		}
	}
	return nil
}

// prepare generates one package and compares it with its directory.
func (r *run) prepare(g *generation, dir string) error {
	place, err := FindModule(dir)
	if err != nil {
		return err
	}
	lock, err := ReadLock(dir)
	if err != nil {
		return err
	}
	o := r.o.remembering(lock)
	// Names come from the lock file, also of another directory.
	before := lock
	if before == nil && g.list.Names != nil {
		before = &gogen.Lock{List: *g.list}
	}
	g.out, err = gogen.Generate(gogen.Input{
		Server: g.server, Package: o.packageName(g.server),
		Implementation: g.list.Implementation, Protocol: g.list.Protocol,
		Tools: g.list.Tools, Prompts: g.list.Prompts, Resources: g.list.Resources, Templates: g.list.Templates,
		Lock: before, Decimals: o.Number == NumberJSON, ImportPath: place.ImportPath, Standalone: o.Standalone,
		GoGenerate: o.goGenerate(g.server),
	})
	if err != nil {
		return err
	}
	r.warnGenerated(g, place, o.Standalone)
	if g.plan, err = Compare(dir, g.out.Package, g.out.Files); err != nil {
		return err
	}
	g.answer = Package{Server: g.server, Package: g.out.Package, Dir: dir, Tools: g.out.Tools}
	if lock != nil && !g.plan.Unchanged(filepath.Join(dir, gogen.LockFile)) {
		if g.answer.Changes, err = compareLocks(lock, g.out, o.Number == NumberJSON); err != nil {
			return err
		}
	}
	if !r.o.Check {
		r.noteChanges(g, dir)
	}
	if lock == nil {
		g.next = nextStep(place, o.Standalone)
	}
	return nil
}

// nextStep returns what to do with a new package.
func nextStep(m Module, standalone bool) string {
	switch {
	case m.ImportPath == "":
		return ""
	case m.Lacks && !standalone:
		return fmt.Sprintf("go get github.com/mcpctl/mcpctl, then import %q", m.ImportPath)
	}
	return fmt.Sprintf("import %q", m.ImportPath)
}

// goGenerate returns the command that regenerates the package in its directory
// without the server: it is the same on every machine.
func (o *Options) goGenerate(server string) string {
	words := []string{"mcpctl", "generate", server, "--out", ".", "--from", gogen.LockFile}
	if name := o.packageName(server); name != gogen.PackageName(server) {
		words = append(words, "--package", name)
	}
	if o.Number != NumberFloat {
		words = append(words, "--number", o.Number)
	}
	if o.Standalone {
		words = append(words, "--standalone")
	}
	return strings.Join(words, " ")
}
