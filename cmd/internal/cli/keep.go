package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/local"
	"github.com/mcpctl/mcpctl/cmd/internal/sessions"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// keepCommand is one run of mcpctl session.
type keepCommand struct {
	a          *app
	idle       time.Duration
	foreground bool
}

func newKeep(a *app) *cobra.Command {
	k := &keepCommand{a: a}
	cmd := &cobra.Command{
		Use:   "session [SERVER...]",
		Short: "Keep servers running between commands",
		Long: "Keep servers running in the background. Every command that follows uses the running server, so its state stays: a\n" +
			"browser keeps its page, a debugger its breakpoints. It is also faster than a start for each command.\n\n" +
			"A command uses a session of the same configuration file and the same values of placeholders, or starts the server\n" +
			"itself. --no-session always starts it. A session ends after 30 minutes without a call, or with mcpctl session stop.\n" +
			"Without SERVER, the sessions that run are listed.",
		Example: "  mcpctl session fs\n  mcpctl fs list_allowed_directories\n  mcpctl session stop fs",
		RunE: func(cmd *cobra.Command, words []string) error {
			if k.idle < 0 {
				return usagef("--idle is %s, want 0 or more", k.idle)
			}
			return k.run(cmd.Context(), words)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().DurationVar(&k.idle, "idle", sessions.DefaultIdle, "end after this `DURATION` without a call; 0 is never")
	cmd.Flags().BoolVar(&k.foreground, "foreground", false, "run here, until it ends")
	a.completeServers(cmd)
	stop := &cobra.Command{
		Use:     "stop [SERVER...]",
		Short:   "End sessions",
		Long:    "End the sessions of servers, of all configuration files. Without SERVER, all sessions end.",
		Example: "  mcpctl session stop\n  mcpctl session stop fs",
		RunE:    func(cmd *cobra.Command, words []string) error { return k.stop(cmd.Context(), words) },
	}
	a.completeServers(stop)
	restart := &cobra.Command{
		Use:   "restart SERVER...",
		Short: "Restart servers, in sessions and in serve",
		Long: "Restart servers in their sessions and in each running mcpctl serve that has them, of all configuration files. Other\n" +
			"servers are left alone. Calls under way end first, for up to 30 seconds, and the next call starts the server. If nothing\n" +
			"runs the server, the exit code is 1.\n\n" +
			`As JSON: {"restarted":[{"server","kind":"session"|"serve","pid"}]}.`,
		Example: "  mcpctl session restart fs",
		RunE:    func(cmd *cobra.Command, words []string) error { return k.restart(cmd.Context(), words) },
	}
	a.completeServers(restart)
	cmd.AddCommand(stop, restart)
	return a.watched(cmd, func(words []string) error {
		if len(words) > 0 {
			return usagef("--watch shows the sessions that run: use it without servers").withHint("mcpctl session --watch")
		}
		return nil
	})
}

func (k *keepCommand) run(ctx context.Context, servers []string) error {
	switch {
	case len(servers) == 0 && k.foreground, k.foreground && len(servers) > 1:
		return usagef("--foreground takes one server")
	case len(servers) == 0:
		return k.list(ctx)
	case sessionless(k.a.settings) != "":
		return usagef("session cannot be used with %s: commands start the server themselves then", sessionless(k.a.settings))
	case k.a.settings.URL != "":
		return usagef("a session is of a configured server").withHint("mcpctl add ALIAS --url %s", shellWord(config.DisplayURL(k.a.settings.URL)))
	}
	type place struct {
		entry  config.Entry
		socket string
	}
	places := make([]place, len(servers))
	for i, server := range servers { // all of them can be kept, or none is started
		entry, socket, err := k.place(server)
		if err != nil {
			return k.a.withServer(server, err)
		}
		places[i] = place{entry, socket}
	}
	var started []sessions.Info
	for i, p := range places {
		if k.foreground {
			return k.keep(ctx, p.entry, p.socket)
		}
		info, err := k.start(ctx, p.entry, p.socket)
		if err != nil {
			return errors.Join(k.print(started), k.a.withServer(servers[i], err))
		}
		started = append(started, info)
	}
	return k.print(started)
}

// print prints the sessions that the command was to start.
func (k *keepCommand) print(started []sessions.Info) error {
	if len(started) == 0 {
		return nil
	}
	if k.a.ui.WantJSON() {
		return k.a.ui.EncodeJSON(map[string]any{"sessions": started})
	}
	for _, s := range started {
		if _, err := fmt.Fprintln(k.a.ui.Out, s.Line()); err != nil {
			return err
		}
	}
	k.a.ui.Info("to end it: mcpctl session stop")
	return nil
}

// place returns the entry of a server, and the socket of its session.
func (k *keepCommand) place(server string) (config.Entry, string, error) {
	entry, err := k.a.entry(server)
	if err != nil {
		return entry, "", err
	}
	if entry.Transport() == config.TransportCLI {
		return entry, "", usagef("%s is a command-line tool: each call is a new process, and there is nothing to keep", server)
	}
	x, err := entry.Expand(os.LookupEnv)
	if err != nil {
		return entry, "", err
	}
	socket, err := sessions.Path(config.StateDir(k.a.getenv), entry.File, x, true)
	return entry, socket, err
}

// keep is the session of a server, until it ends.
func (k *keepCommand) keep(ctx context.Context, entry config.Entry, socket string) error {
	file, err := filepath.Abs(entry.File)
	if err != nil {
		return err
	}
	// One process for all commands, for as long as the session lasts. How long a call may
	// take is for the command that makes it.
	entry.Isolation, entry.IdleTimeout, entry.RequestTimeout = "shared", -1, -1
	k.a.settings.Serve.RequestTimeout = -1
	return k.a.runGateway(ctx, gateway.Options{
		Command: "session", Bridge: true, Entries: []config.Entry{entry}, Socket: socket,
		Session: &sessions.Options{Server: entry.Name, Config: file, Socket: socket, Idle: k.idle},
	})
}

// start starts the session of a server in the background, unless there is one, and
// connects to the server, so that what is wrong with it is said now.
func (k *keepCommand) start(ctx context.Context, entry config.Entry, socket string) (sessions.Info, error) {
	if info, err := sessions.Ask(ctx, socket); err == nil {
		return info, nil
	}
	program, err := executable()
	if err != nil {
		return sessions.Info{}, err
	}
	words := []string{"session", "--foreground", "--idle", k.idle.String()}
	if k.a.settings.ConfigAlone { // else it finds the layers that this command has found
		words = append(words, "--config", k.a.settings.ConfigPath)
	}
	if k.a.settings.AllowInsecureHTTP {
		words = append(words, "--allow-insecure-http")
	}
	cmd := exec.Command(program, append(words, "--", entry.Name)...) //nolint:noctx // it outlives this command
	cmd.Args[0] = "mcpctl"
	_, err = sessions.Start(ctx, cmd, socket, sessions.LogPath(config.StateDir(k.a.getenv), socket))
	if err != nil {
		if info, asked := sessions.Ask(ctx, socket); asked == nil { // another command was faster
			return info, nil
		}
		if early, ok := errors.AsType[*sessions.StartError](err); ok {
			return sessions.Info{}, &Error{Code: max(early.Code, exitOther), Err: err, Remedy: early.Hint()}
		}
		return sessions.Info{}, err
	}
	c, err := k.a.inSession(ctx, entry, nil)
	switch {
	case err != nil:
	case c == nil:
		err = errors.New("the session has ended again")
	default:
		err = c.Close()
	}
	if err != nil {
		_ = sessions.Stop(context.WithoutCancel(ctx), socket) // else it ends when it is idle
		err = onTheWay(err)
		if ui.HintOf(err) == "" {
			err = &Error{Code: exitCode(err), Err: err, Remedy: "mcpctl --no-session ping " + shellWord(entry.Name)}
		}
		return sessions.Info{}, err
	}
	return sessions.Ask(ctx, socket)
}

// sessionless returns the flag that has a command start its server, "" for none.
func sessionless(s settings.Settings) string {
	switch {
	case s.NoSession:
		return "--no-session"
	case len(s.Headers) > 0:
		return "--header"
	case s.ProtocolVersion != "":
		return "--protocol-version"
	case s.Auth != nil:
		return "--auth"
	}
	return ""
}

// inSession connects to the session of a server; nil without an error: there is none that
// fits.
func (a *app) inSession(ctx context.Context, entry config.Entry, h *host) (*runtime.Client, error) {
	if sessionless(a.settings) != "" {
		return nil, nil
	}
	x, err := entry.Expand(os.LookupEnv)
	if err != nil {
		return nil, nil //nolint:nilerr // whoever starts the server says so
	}
	socket, err := sessions.Path(config.StateDir(a.getenv), entry.File, x, false)
	if err != nil {
		if !errors.Is(err, sessions.ErrNone) {
			a.log.Debug("no session is used", "server", entry.Name, "err", err)
		}
		return nil, nil
	}
	info, err := sessions.Ask(ctx, socket)
	if err != nil {
		if !local.Gone(err) {
			a.log.Warn("its session is not used", "server", entry.Name, "err", err)
		}
		return nil, nil
	}
	a.log.Info("its session is used", "server", entry.Name, "pid", info.PID)
	o := a.dialOptions(entry)
	o.Auth, o.HTTP.Client, o.Version = nil, local.Client(socket), info.ProtocolVersion
	if h != nil {
		o.Handler, o.Capabilities = h, h.Capabilities()
	}
	return dial.Dial(ctx, config.Entry{Name: entry.Name, URL: "http://session/mcp"}, o)
}

// onTheWay returns the error of mcpctl itself in front of a server, a session or a bridge,
// as what it stands for: a failure of the way to the server, of its kind.
func onTheWay(err error) error {
	rpc, ok := errors.AsType[*runtime.Error](err)
	if !ok || rpc.Code != codeTransport && rpc.Code != codeStatus {
		return err
	}
	var data struct{ Kind, Server string }
	if json.Unmarshal(rpc.Data, &data) != nil || data.Server == "" {
		return err
	}
	if code, ok := codeOf(data.Kind); ok {
		return &Error{Code: code, Server: data.Server, Err: errors.New(rpc.Message), Remedy: ui.HintOf(err)}
	}
	return err
}

// Codes of the errors of a bridge (docs/bridge.md).
const (
	codeTransport = -32000
	codeStatus    = -32001
)

// list prints the sessions that run.
func (k *keepCommand) list(ctx context.Context) error {
	all := sessions.Find(ctx, config.StateDir(k.a.getenv))
	if k.a.ui.WantJSON() {
		if all == nil {
			all = []sessions.Info{}
		}
		return k.a.ui.EncodeJSON(map[string]any{"sessions": all})
	}
	if len(all) == 0 {
		k.a.ui.Info("no session is running; mcpctl session SERVER starts one")
		return nil
	}
	return k.a.ui.NameTable(sessions.Rows(all, time.Now()))
}

// restarted is a server that was restarted.
type restarted struct {
	Server string `json:"server"`
	Kind   string `json:"kind"` // "session" or "serve"
	PID    int    `json:"pid"`
}

// restart restarts servers wherever they run.
func (k *keepCommand) restart(ctx context.Context, servers []string) error {
	if len(servers) == 0 {
		return usagef("restart: want SERVER").withHint("mcpctl session restart SERVER; mcpctl status shows those of serve")
	}
	state := config.StateDir(k.a.getenv)
	serves, err := control.Find(ctx, state)
	if err != nil {
		return fmt.Errorf("look for mcpctl serve: %w", err)
	}
	done := []restarted{}
	for _, server := range servers {
		before := len(done)
		for _, f := range serves {
			var s serveStatus
			if f.Err != nil || json.Unmarshal(f.Status, &s) != nil || !slices.ContainsFunc(s.Backends, func(b proxy.BackendStatus) bool { return b.Name == server }) {
				continue
			}
			if err := control.Restart(ctx, state, f.PID, server); err != nil {
				return k.a.withServer(server, fmt.Errorf("restart %s in process %d: %w", server, f.PID, err))
			}
			kind := "serve"
			if s.Transport == "session" {
				kind = s.Transport
			}
			done = append(done, restarted{server, kind, f.PID})
		}
		if len(done) == before {
			return k.a.withServer(server, &Error{Code: exitOther, Err: fmt.Errorf("%s runs in no session and no serve", ui.CleanLine(server)), Remedy: "mcpctl session " + shellWord(server) + " starts a session"})
		}
	}
	if k.a.ui.WantJSON() {
		return k.a.ui.EncodeJSON(map[string]any{"restarted": done})
	}
	for _, r := range done {
		if _, err := fmt.Fprintf(k.a.ui.Out, "%s: restarted in %s %d\n", ui.CleanLine(r.Server), r.Kind, r.PID); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the sessions of servers, all of them for none.
func (k *keepCommand) stop(ctx context.Context, servers []string) error {
	chosen, missing := sessions.Of(servers, sessions.Find(ctx, config.StateDir(k.a.getenv)))
	if missing != "" {
		return k.a.withServer(missing, usagef("%s has no session", ui.CleanLine(missing)).withHint("mcpctl session lists those that run"))
	}
	for _, s := range chosen {
		if err := sessions.Stop(ctx, s.Socket); err != nil {
			return k.a.withServer(s.Server, fmt.Errorf("end the session of %s (process %d): %w", s.Server, s.PID, err))
		}
	}
	if k.a.ui.WantJSON() {
		return k.a.ui.EncodeJSON(map[string]any{"stopped": chosen})
	}
	if len(chosen) == 0 {
		k.a.ui.Info("no session is running")
	}
	for _, s := range chosen {
		if _, err := fmt.Fprintf(k.a.ui.Out, "%s has ended\n", ui.CleanLine(s.Server)); err != nil {
			return err
		}
	}
	return nil
}
