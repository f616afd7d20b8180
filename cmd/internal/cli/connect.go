package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// How long a one-shot command waits for a child process at its end. Servers that end
// with their input need up to 15 ms (filesystem, memory); 30 ms is twice that, and
// the prompt is back within 50 ms.
const (
	callGrace    = 30 * time.Millisecond
	callShutdown = 500 * time.Millisecond
)

// connect dials a configured server, or with an empty name the one at --url, as the
// policies allow. h answers the server's requests. The caller closes the client by
// host.close.
func (a *app) connect(ctx context.Context, server string, h *host) (*runtime.Client, error) {
	entry, err := a.entryOrURL(server)
	if err != nil {
		return nil, err
	}
	h.entry = entry
	if server != "" {
		if c, err := a.inSession(ctx, entry, h); c != nil || err != nil {
			concern, unread := a.file.policies.Concern(entry)
			h.filtered = concern || unread != nil
			return c, err
		}
	}
	a.noteVariables()
	o := a.dialOptions(entry)
	o.Grace, o.ShutdownTimeout, o.Handler, o.Capabilities = callGrace, callShutdown, h, h.Capabilities()
	if !a.side {
		defer a.ui.Wait(func() string { return waitingFor(entry) })()
	}
	c, err := a.reach(ctx, entry, o, func(ctx context.Context, o dial.Options) (*runtime.Client, error) {
		return a.dialOrLogin(ctx, entry, o)
	})
	if err != nil {
		return nil, err
	}
	h.conn, h.filtered = c, c.Client != c.Server
	return c.Client, nil
}

// waitingFor says what takes long about a server's start.
func waitingFor(entry config.Entry) string {
	if entry.Command == "" {
		return "connecting to " + entry.Name
	}
	fetches := map[string]string{
		"npx": "npx downloads it", "bunx": "bunx downloads it", "uvx": "uvx downloads it", "dnx": "dnx downloads it",
		"docker": "docker pulls its image", "podman": "podman pulls its image",
	}
	if what := fetches[strings.TrimSuffix(filepath.Base(entry.Command), ".exe")]; what != "" {
		return "starting " + entry.Name + " (" + what + " the first time)"
	}
	return "starting " + entry.Name
}

// dialOrLogin connects to a server, after a login where it wants one.
func (a *app) dialOrLogin(ctx context.Context, entry config.Entry, o dial.Options) (*runtime.Client, error) {
	c, err := dial.Dial(ctx, entry, o)
	commands := authCommands{a}
	var refused *auth.Error
	if p := commands.person(false); p != nil && errors.As(err, &refused) && refused.NeedsPerson() {
		z, err := commands.authorizer(entry)
		if err != nil {
			return nil, err
		}
		z.Attend(p)
		defer a.ui.Hold()()
		t, err := z.LoginAfter(ctx, refused)
		if err != nil {
			return nil, err
		}
		again := *o.Auth
		again.Given = t.Access
		o.Auth = &again
		return dial.Dial(ctx, entry, o)
	}
	return c, err
}

// noteVariables warns of headers given by flag that a shell was probably meant to
// expand: they are sent as they are.
func (env *environment) noteVariables() {
	for _, name := range slices.Sorted(maps.Keys(env.settings.Headers)) {
		value := env.settings.Headers[name]
		variables, _ := config.Variables(value)
		if bare, ok := config.BareVariable(value); ok {
			variables = []string{bare}
		}
		if len(variables) > 0 {
			env.ui.Info("warning: -H %s has the text $%s, which is sent as it is: the shell replaces it between \"double quotes\"", name, variables[0])
		}
	}
}

// dialOptions returns the settings for connecting to one server.
func (a *app) dialOptions(entry config.Entry) dial.Options {
	return dial.Options{
		Client:         a.implementation(),
		Logger:         a.log,
		Eras:           a.eras(),
		ToolCache:      a.toolCache(),
		Version:        a.settings.ProtocolVersion,
		HTTP:           dial.HTTPOptions{Headers: a.settings.Headers, AllowInsecure: a.settings.AllowInsecureHTTP},
		ConnectTimeout: a.settings.DialTimeout(entry.ConnectTimeout),
		Timeout:        a.settings.CallTimeout(entry.RequestTimeout),
		Hurry:          a.Hurry,
		Guard:          a.short.of(&a.environment),
		Auth:           authCommands{a}.dialAuth(),
	}
}

// eraCache is the cache of the eras that servers speak, made at its first use.
type eraCache struct {
	once  sync.Once
	cache negotiate.EraCache
}

// eras returns the cache of the eras that servers speak, in the state directory.
func (a *app) eras() negotiate.EraCache {
	a.stored.eras.once.Do(func() {
		path := ""
		if dir := config.StateDir(a.getenv); dir != "" {
			path = filepath.Join(dir, "verdicts.json")
		}
		a.stored.eras.cache = dial.NewEraCache(path, a.log)
	})
	return a.stored.eras.cache
}

// toolCache returns where it is kept what command-line tools say of themselves, in the
// state directory; "" for none.
func (a *app) toolCache() string {
	if dir := config.StateDir(a.getenv); dir != "" {
		return filepath.Join(dir, "cli")
	}
	return ""
}

// implementation identifies mcpctl, as client and as server.
func (env *environment) implementation() runtime.Implementation {
	return runtime.Implementation{Name: "mcpctl", Version: cmp.Or(env.built, "devel")}
}
