package demo

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Exit codes the tour shows on purpose.
const (
	exitUsage  = 2
	exitTool   = 3
	exitConfig = 5
)

// mcpctl runs mcpctl with the words and wants exit code 0.
func (t *tour) mcpctl(ctx context.Context, words ...string) error {
	return t.fails(ctx, 0, words...)
}

// fails runs mcpctl and wants another exit code.
func (t *tour) fails(ctx context.Context, code int, words ...string) error {
	return t.runner.run(ctx, command{words: append([]string{"mcpctl"}, words...), want: code})
}

// all runs commands until one fails.
func (t *tour) all(ctx context.Context, lines ...[]string) error {
	for _, words := range lines {
		if err := t.mcpctl(ctx, words...); err != nil {
			return err
		}
	}
	return nil
}

func (t *tour) find(ctx context.Context) error {
	t.heading("Find a server in the registry")
	return t.all(ctx,
		[]string{"search", "acme"},
		[]string{"search", "github", "issues"},
		[]string{"info", registrytest.Workshop},
	)
}

func (t *tour) configure(ctx context.Context) error {
	t.heading("Add servers to servers.json")
	t.line("A record of an npm package becomes a command. --dry-run writes nothing: the sample")
	t.line("packages are made up, so this one could not be started.")
	if err := t.mcpctl(ctx, "add", "io.github.acme/github-issues", "--dry-run"); err != nil {
		return err
	}
	t.paragraph("This record names a remote server that wants a key. The file gets a placeholder.")
	if err := t.mcpctl(ctx, "add", registrytest.Workshop, "--as", "workshop"); err != nil {
		return err
	}
	names, err := t.placeholders("workshop")
	if err != nil {
		return err
	}
	if len(names) > 0 {
		t.paragraph("Without the key nothing is sent.")
		if err := t.fails(ctx, exitConfig, "ping", "workshop"); err != nil {
			return err
		}
		t.line("")
		for _, name := range names {
			t.export(name, t.parts.key)
		}
	}
	t.paragraph("A server of your own, by hand: mcpctl has one built in.")
	return t.all(ctx,
		[]string{"add", "notes", "--", "mcpctl", "demo-server"},
		[]string{"list"},
	)
}

// placeholders are the variables that the headers of an entry need.
func (t *tour) placeholders(server string) ([]string, error) {
	file, err := config.Load(filepath.Join(t.dir, "home", config.FileName))
	if err != nil {
		return nil, err
	}
	entry, err := file.Use(server)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, value := range entry.Headers {
		names, _ := config.Variables(value)
		out = append(out, names...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (t *tour) use(ctx context.Context) error {
	t.heading("Use it")
	if err := t.all(ctx,
		[]string{"tools", "workshop"},
		[]string{"describe", "workshop", "place_order"},
		[]string{"workshop", "search_items", "category=timber", "inStock=true"},
	); err != nil {
		return err
	}
	t.paragraph("Arguments follow the tool's schema, and are checked before anything is sent.")
	if err := t.fails(ctx, exitUsage, "workshop", "search_items", "category=food"); err != nil {
		return err
	}
	if err := t.mcpctl(ctx, "workshop", "place_order", "customer.name=Ada", "customer.address.city=Turin",
		"lines[0].sku=oak-board", "lines[0].quantity=2", "delivery=courier"); err != nil {
		return err
	}
	t.paragraph("An error that the tool reports has an exit code of its own.")
	if err := t.fails(ctx, exitTool, "workshop", "open_safe", "combination=1234"); err != nil {
		return err
	}
	t.paragraph("Pictures go into files; --json prints what the server sent, as it was sent.")
	return t.all(ctx,
		[]string{"workshop", "draw_shelves", "-O", "pictures"},
		[]string{"--json", "workshop", "get_item", "sku=oak-board"},
		[]string{"resources", "workshop"},
		[]string{"resources", "workshop", "--templates"},
		[]string{"read", "workshop", "workshop://item/oak-board"},
		[]string{"prompts", "workshop"},
		[]string{"prompt", "workshop", "plan_project", "project=a stool", "budget=40"},
	)
}

func (t *tour) generate(ctx context.Context) error {
	t.heading("Generate a typed Go client")
	compile, err := t.module()
	if err != nil {
		return err
	}
	if err := t.mcpctl(ctx, "generate", "workshop"); err != nil {
		return err
	}
	return compile(ctx)
}

func (t *tour) serve(ctx context.Context) error {
	t.heading("Serve all of them behind one endpoint")
	t.line("On standard input and output, as an MCP host starts it: here one call, its progress and")
	t.line("its result. Names are SERVER__NAME.")
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workshop__count_stock","arguments":{"pauseMs":1},"_meta":{"progressToken":"p"}}}`
	if err := t.runner.run(ctx, command{words: []string{"mcpctl", "serve"}, stdin: call}); err != nil {
		return err
	}
	t.paragraph("Over HTTP, to be called by any client; mcpctl is one. The order above was made at the",
		"workshop, so the two servers do not have the same stock.")
	front, url, err := t.start(ctx, command{words: []string{"mcpctl", "serve", "--http", "127.0.0.1:0"}}, "listening on ")
	if err != nil {
		return err
	}
	err = t.all(ctx,
		[]string{"--url", url, "tools"},
		[]string{"--url", url, "call", "workshop__get_item", "sku=oak-board"},
		[]string{"--url", url, "call", "notes__get_item", "sku=oak-board"},
	)
	ended := front.end()
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil: // serve was interrupted, too
		return ctx.Err()
	case ended != nil:
		return ended
	}
	t.paragraph("(serve is ended, as by Ctrl+C)")
	return nil
}
