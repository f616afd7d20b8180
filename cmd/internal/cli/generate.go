package cli

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/outdir"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// generateGCPercent is the GC percentage while code is generated.
const generateGCPercent = 50

type generateFlags struct {
	out        string
	pkg        string
	from       string
	check      bool
	tools      []string
	standalone bool
	record     string
	number     string
}

// Values of --number.
const (
	numberFloat = "float64"
	numberJSON  = "json"
)

func newGenerate(a *app) *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate SERVER... | generate [NAME] -- COMMAND [ARGS...]",
		Short: "Write a typed Go client for a server",
		Long: `Write a Go package for each server. Each tool becomes a method with a parameter
struct; prompts and resources become methods too. A test double is written into a
separate folder. The package imports only the standard library and packages below
mcpctl's runtime. A second run writes the same bytes, and does not touch unchanged
files.

mcpctl.lock.json holds what the code was made from. --from reads such a file, or
any tools/list result, instead of the server. SERVER then only names the package
and need not be configured.

--record calls read-only tools without required arguments, and reads resources
and prompts. The answers become fixtures for tests. Nothing else is called.`,
		Example: `  mcpctl generate everything
  mcpctl generate fs --out ./internal/fs --package fs
  mcpctl generate fs --from ./generated/fs/mcpctl.lock.json --check
  mcpctl generate memory --record ./testdata/memory
  mcpctl generate memory -- npx -y @modelcontextprotocol/server-memory`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && a.adhoc.given() {
				args = []string{a.adhoc.name()}
			}
			if err := f.validate(a, args); err != nil {
				return err
			}
			return (&generateCommand{a, &f}).run(cmd.Context(), args)
		},
	}
	a.adhoc.takenBy(cmd)
	a.completeServers(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "the package's `DIR` (default ./generated/SERVER); with several servers their parent")
	fl.StringVar(&f.pkg, "package", "", "the package's `NAME` (default from the server's)")
	fl.StringVar(&f.from, "from", "", "read the tools from a `FILE` (- is standard input) instead of the server")
	fl.BoolVar(&f.check, "check", false, "write nothing; exit 10 if a file would change")
	fl.StringArrayVar(&f.tools, "tools", nil, "only tools whose name matches this `GLOB` (repeatable)")
	fl.BoolVar(&f.standalone, "standalone", false, "put the support code into the package, which then needs no mcpctl")
	fl.StringVar(&f.record, "record", "", "call what is read-only and write fixtures into `DIR`; with several servers their parent")
	fl.StringVar(&f.number, "number", numberFloat, "the `TYPE` of numbers in Go: float64, or json for json.Number, which keeps every digit")
	completeWords(cmd, "number", numberFloat, numberJSON)
	return cmd
}

// validate checks words and flags before connecting.
func (f *generateFlags) validate(a *app, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("generate: which server?").withHint("mcpctl list shows the configured ones")
	case len(args) > 1 && f.pkg != "":
		return usagef("--package names one package, but there are %d servers", len(args))
	case len(args) > 1 && f.from != "":
		return usagef("--from is one server's tools, but there are %d servers", len(args))
	case len(args) > 1 && a.adhoc.given():
		return usagef("--url, or a command behind --, is one server, but there are %d names", len(args))
	case f.number != numberFloat && f.number != numberJSON:
		return usagef("--number %s: it is float64 or json", f.number)
	case f.record != "" && f.from != "":
		return usagef("--record asks the server, which --from replaces")
	case f.record != "" && f.check:
		return usagef("--record writes files, which --check does not")
	}
	seen := map[string]string{}
	for _, server := range args {
		if err := config.CheckAlias(server); err != nil {
			return usagef("%w", err)
		}
		name := f.packageName(server)
		if err := gogen.CheckPackageName(name); err != nil {
			if f.pkg != "" {
				return usagef("--package: %w", err).withHint("such as %s", gogen.PackageName(server))
			}
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

// dir returns the directory of a server's package.
func (f *generateFlags) dir(server string, several bool) string {
	if f.out == "" {
		return filepath.Join("generated", server)
	}
	return folder(f.out, server, several)
}

// folder returns the directory of one server: the given one, or one in it.
func folder(given, server string, several bool) string {
	if several {
		return filepath.Join(given, server)
	}
	return filepath.Clean(given)
}

// generateCommand is one run of mcpctl generate.
type generateCommand struct {
	*app
	f *generateFlags
}

// generation is the part of a run for one server.
type generation struct {
	server     string
	list       *gogen.List
	standalone bool
	recorded   *recording // nil without --record
	out        *gogen.Output
	plan       *outdir.Plan
	answer     generatedPackage
}

// run generates all packages before it writes the first, so that a failing
// server changes nothing.
func (c *generateCommand) run(ctx context.Context, servers []string) error {
	// A server of 1,000 tools takes 220 MB, not 250, when it is generated again.
	defer debug.SetGCPercent(debug.SetGCPercent(generateGCPercent))
	several := len(servers) > 1
	for _, server := range servers {
		if err := outdir.CheckFolder("--out", c.f.dir(server, several)); err != nil {
			return err
		}
		if c.f.record != "" {
			if err := outdir.CheckFolder("--record", folder(c.f.record, server, several)); err != nil {
				return err
			}
		}
	}
	all, err := c.ask(ctx, servers)
	if err != nil {
		return err
	}
	for _, g := range all {
		if err := c.prepare(g, c.f.dir(g.server, several)); err != nil {
			return c.withServer(g.server, err)
		}
	}
	drift := false
	answers := make([]generatedPackage, 0, len(all))
	for _, g := range all {
		if c.f.check {
			g.answer.Files = g.plan.Check()
			drift = drift || g.plan.Differs()
		} else if g.answer.Files, err = g.plan.Write(); err != nil {
			return c.withServer(g.server, outdir.WriteError("--out", err))
		}
		if g.recorded != nil {
			if g.answer.Recorded, err = g.recorded.write(folder(c.f.record, g.server, several)); err != nil {
				return c.withServer(g.server, outdir.WriteError("--record", err))
			}
		}
		answers = append(answers, g.answer)
	}
	if err := c.printGenerated(answers, c.f.check); err != nil {
		return err
	}
	if drift {
		return c.driftError(answers)
	}
	return nil
}

// prepare generates one package and compares it with its directory.
func (c *generateCommand) prepare(g *generation, dir string) error {
	place, err := outdir.FindModule(dir)
	if err != nil {
		return err
	}
	lock, err := outdir.ReadLock(dir)
	if err != nil {
		return err
	}
	// Names come from the lock file, also of another directory.
	before := lock
	if before == nil && g.list.Names != nil {
		before = &gogen.Lock{List: *g.list}
	}
	g.out, err = gogen.Generate(gogen.Input{
		Server: g.server, Package: c.f.packageName(g.server),
		Implementation: g.list.Implementation, Protocol: g.list.Protocol,
		Tools: g.list.Tools, Prompts: g.list.Prompts, Resources: g.list.Resources, Templates: g.list.Templates,
		Lock: before, Decimals: c.f.number == numberJSON, ImportPath: place.ImportPath, Standalone: c.f.standalone,
		GoGenerate: c.f.goGenerate(g.server),
	})
	if err != nil {
		return err
	}
	c.warnGenerated(g, place)
	if g.plan, err = outdir.Compare(dir, g.out.Package, g.out.Files); err != nil {
		return err
	}
	g.answer = generatedPackage{Server: g.server, Package: g.out.Package, Dir: dir, Tools: g.out.Tools}
	if lock != nil && !g.plan.Unchanged(filepath.Join(dir, gogen.LockFile)) {
		if g.answer.Changes, err = compareLocks(lock, g.out, c.f.number == numberJSON); err != nil {
			return err
		}
	}
	if !c.f.check {
		c.noteChanges(g, dir)
	}
	return nil
}

// goGenerate returns the command that regenerates the package in its directory
// without the server: it is the same on every machine.
func (f *generateFlags) goGenerate(server string) string {
	words := []string{"mcpctl", "generate", server, "--out", ".", "--from", gogen.LockFile}
	if name := f.packageName(server); name != gogen.PackageName(server) {
		words = append(words, "--package", name)
	}
	if f.number != numberFloat {
		words = append(words, "--number", f.number)
	}
	if f.standalone {
		words = append(words, "--standalone")
	}
	return strings.Join(words, " ")
}
