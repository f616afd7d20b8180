package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/hostfiles"
	"github.com/mcpctl/mcpctl/cmd/internal/sessions"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// askRunning bounds the wait for running processes: the start screen is there at once.
const askRunning = 60 * time.Millisecond

// showStart lets mcpctl alone show the start screen on a terminal; elsewhere it is the help.
func (a *app) showStart(root *cobra.Command) {
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if !a.ui.OutTTY || a.ui.WantJSON() || cmd.Flags().Changed("version") {
			return cmd.Help()
		}
		return a.start(cmd.Context())
	}
}

// start shows the servers, what other hosts have, and what to do next. It reads what is stored and
// asks the processes that run; nothing is started.
func (a *app) start(ctx context.Context) error {
	set, err := a.loadLayers()
	if err != nil {
		return err
	}
	f := set.File()
	lists := a.known().Load(ctx, f.Enabled(), "tools")
	running := a.running(ctx)
	var b strings.Builder
	p := a.ui.Palette()
	width := 0
	for _, e := range f.Entries() {
		width = max(width, len([]rune(ui.CleanLine(e.Name))))
	}
	for _, e := range f.Entries() {
		dot, about := serverHealth(p, e, lists, running)
		fmt.Fprintf(&b, "%s %-*s  %s\n", dot, width, ui.CleanLine(e.Name), about)
	}
	if len(f.Entries()) == 0 {
		fmt.Fprintf(&b, "There are no servers yet in %s.\n", ui.CleanLine(hostfiles.Short(f.Path(), a.hostProgram().Place)))
	}
	pending := (&hostfiles.Import{Command: a.hostProgram()}).Pending(ctx)
	if len(pending) > 0 {
		var parts []string
		for _, host := range pending {
			parts = append(parts, fmt.Sprintf("%s (%s)", host.Title, ui.Few(host.Servers)))
		}
		fmt.Fprintf(&b, "\nNot imported: %s\n", ui.CleanLine(strings.Join(parts, ", ")))
	}
	b.WriteString("\n")
	next := nextCommands(f, lists, pending)
	width = 0
	for _, n := range next {
		width = max(width, len(n[0]))
	}
	for _, n := range next {
		fmt.Fprintf(&b, "  %s  %s\n", p.Bold(fmt.Sprintf("%-*s", width, n[0])), n[1])
	}
	b.WriteString("\nmcpctl --help lists the commands.\n")
	_, err = io.WriteString(a.ui.Out, b.String())
	a.noteFaults(f)
	return err
}

// serverHealth returns a dot and a few words about a server.
func serverHealth(p ui.Palette, e config.Entry, lists map[string]find.Listed, running map[string]runningServer) (dot, about string) {
	listed, known := lists[e.Name]
	tools := ""
	if known {
		tools = plain.Count(len(listed.Items), "tool")
		if age := time.Since(listed.At).Round(time.Second); age > 0 {
			tools += ", listed " + ui.Since(age) + " ago"
		}
	}
	r, runs := running[e.Name]
	switch {
	case e.Fault != nil:
		return p.Red("●"), p.Red("cannot be used: ") + ui.CleanLine(e.Fault.Message)
	case e.Disabled:
		return "○", "disabled: mcpctl enable " + shellWord(ui.CleanLine(e.Name))
	case runs && r.err != "":
		return p.Red("●"), p.Red(r.where+": ") + ui.CleanLine(ui.FirstLine(r.err))
	case runs && tools != "":
		return p.Green("●"), tools + ", " + r.where
	case runs:
		return p.Green("●"), r.where
	case known:
		return p.Green("●"), tools
	}
	return p.Yellow("●"), "not asked yet: mcpctl " + shellWord(ui.CleanLine(e.Name))
}

// runningServer is a server that a session or serve has.
type runningServer struct {
	where string // such as "in mcpctl serve"
	err   string // why it does not work, "" if it does
}

// running returns the servers of this configuration that processes have.
func (a *app) running(ctx context.Context) map[string]runningServer {
	ctx, cancel := context.WithTimeout(ctx, askRunning)
	defer cancel()
	out := map[string]runningServer{}
	state := config.StateDir(a.getenv)
	own, _ := filepath.Abs(a.settings.ConfigPath)
	for _, s := range sessions.Find(ctx, state) {
		if s.Config == own {
			out[s.Server] = runningServer{where: "in a session"}
		}
	}
	serves, _ := control.Find(ctx, state) // without an answer, it is as if none ran
	for _, f := range serves {
		var s gateway.Status
		if f.Err != nil || json.Unmarshal(f.Status, &s) != nil || s.Config.Path != own {
			continue
		}
		for _, b := range s.Backends {
			r := runningServer{where: "in mcpctl serve"}
			if b.State == "broken" && b.LastError != nil {
				r.err = b.LastError.Message
			}
			out[b.Name] = r
		}
	}
	return out
}

// nextCommands returns three commands that a user is likely to need, with what they do.
func nextCommands(f *config.File, lists map[string]find.Listed, pending []hostfiles.Waiting) [][2]string {
	var out [][2]string
	add := func(command, does string) {
		if len(out) < 3 && !slices.ContainsFunc(out, func(o [2]string) bool { return o[0] == command }) {
			out = append(out, [2]string{command, does})
		}
	}
	if len(pending) > 0 {
		add("mcpctl import", "take these servers over")
	}
	for _, e := range f.Enabled() {
		name := shellWord(ui.CleanLine(e.Name))
		listed, known := lists[e.Name]
		var tool runtime.Tool
		switch {
		case !known:
			add("mcpctl "+name, "start it, and list its tools")
		case len(listed.Items) > 0 && json.Unmarshal(listed.Items[0], &tool) == nil:
			add("mcpctl describe "+name+" "+shellWord(ui.CleanLine(tool.Name)), "a tool's arguments, and how to call it")
		}
		if len(out) > 1 {
			break
		}
	}
	if len(f.Enabled()) > 0 {
		add("mcpctl serve --http", "all servers behind one address")
		add("mcpctl doctor", "check them")
	}
	add("mcpctl search github", "find servers in the registry")
	add("mcpctl add NAME -- COMMAND", "add one of your own")
	add("mcpctl demo", "see everything, without a network")
	return out
}
