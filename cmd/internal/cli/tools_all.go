package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/locking"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// knownWhole returns the stored lists of the configured servers, as the servers have sent them.
func (env *environment) knownWhole() find.KnownLists {
	return find.NewKnown(config.StateDir(env.getenv), cmp.Or(env.file.scope, env.settings.ConfigPath), env.log)
}

// known returns what the policies and mcpctl.lock leave of the stored lists.
func (env *environment) known() find.KnownLists {
	lists := env.knownWhole()
	held := locking.Stored(env.settings.ConfigPath)
	lists.Filter = func(server config.Entry, member string, items []json.RawMessage) []json.RawMessage {
		return env.file.policies.Shown(server, member, held(server, member, items))
	}
	return lists
}

// serverTools is one server in the tools of several; the form of --json.
type serverTools struct {
	Name string `json:"name"`
	// State is "listed", "not listed yet", "disabled" or "failed".
	State string            `json:"state"`
	Tools []json.RawMessage `json:"tools"`
	// Age is how many seconds ago the tools were listed, 0 for now.
	Age   int64  `json:"age,omitempty"`
	Error string `json:"error,omitempty"`

	err error
}

// toolsCommand is one run of mcpctl tools for several servers.
type toolsCommand struct{ *app }

// run prints the tools of several servers, which are asked side by side, or with
// stored of all configured ones as far as they are known. The failure of a server does not
// hide the others.
func (c *toolsCommand) run(ctx context.Context, names []string, stored, withSchema bool) error {
	if err := c.shareConfig(); err != nil {
		return err
	}
	f, err := c.loadConfig()
	if err != nil {
		return err
	}
	var all []serverTools
	switch {
	case stored:
		all = c.stored(ctx, f)
		c.noteFaults(f)
	default:
		if len(names) == 0 {
			for _, e := range f.Enabled() {
				names = append(names, e.Name)
			}
		}
		all = c.ask(ctx, f, names, revision.MethodToolsList, "tools")
	}
	short := c.ui.WantShort() && !withSchema
	if short {
		shorten(all)
	}
	if err := printServerTools(c.ui, all); err != nil {
		return err
	}
	if short {
		c.ui.NoteShort()
	}
	if len(all) == 0 {
		c.ui.Info("no servers in %s; mcpctl search finds some, mcpctl add adds one", f.Path())
	}
	var failed error
	for i := range all {
		if err := all[i].err; err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// stored returns the tools of all configured servers as they were last listed.
func (c *toolsCommand) stored(ctx context.Context, f *config.File) []serverTools {
	lists := c.known().Load(ctx, f.Enabled(), "tools")
	var all []serverTools
	for _, e := range f.Entries() {
		one := serverTools{Name: e.Name, State: "not listed yet", Tools: []json.RawMessage{}}
		listed, ok := lists[e.Name]
		switch {
		case e.Fault != nil:
			continue
		case e.Disabled:
			one.State = "disabled"
		case ok:
			one.State, one.Tools = "listed", listed.Items
			one.Age = max(int64(time.Since(listed.At).Round(time.Second)/time.Second), 1)
		}
		all = append(all, one)
	}
	return all
}

// ask asks servers side by side for one of their lists, those that are started each in its turn.
func (a *app) ask(ctx context.Context, f *config.File, names []string, method, member string) []serverTools {
	all := make([]serverTools, len(names))
	turns := proxy.NewStartLimiter()
	var answered atomic.Int64
	a.side = true
	defer a.ui.Wait(func() string {
		return fmt.Sprintf("asking %s, %d answered", plain.Count(len(names), "server"), answered.Load())
	})()
	var wg sync.WaitGroup
	for i, name := range names {
		one := &all[i]
		one.Name, one.State, one.Tools = name, "listed", []json.RawMessage{}
		wg.Go(func() {
			e, _ := f.Entry(name)
			defer turns.Wait(ctx, nil, e.Command != "")()
			one.err = a.with(ctx, []string{name}, func(s *session, _ []string) error {
				_, items, err := s.list(ctx, method, member)
				one.Tools = append(one.Tools, items...)
				return err
			})
			answered.Add(1)
			if one.err != nil {
				one.State, one.Error = "failed", one.err.Error()
			}
		})
	}
	wg.Wait()
	return all
}

// shorten replaces the definitions of tools by their short form.
func shorten(all []serverTools) {
	for i := range all {
		short := ui.ShortTools(all[i].Tools)
		all[i].Tools = make([]json.RawMessage, len(short))
		for j := range short {
			all[i].Tools[j], _ = plain.JSON(short[j]) // texts and lists of texts are JSON
		}
	}
}

func printServerTools(u *ui.UI, all []serverTools) error {
	if u.WantJSON() {
		if all == nil {
			all = []serverTools{}
		}
		return u.EncodeJSON(map[string]any{"servers": all})
	}
	servers := make([]ui.Server, len(all))
	var marked []ui.Tool
	for i, one := range all {
		name := ui.CleanLine(one.Name)
		servers[i] = ui.Server{Name: name, State: one.State, Age: time.Duration(one.Age) * time.Second}
		switch one.State {
		case "not listed yet":
			servers[i].Fix = "mcpctl tools " + shellWord(name)
		case "failed":
			servers[i].Fix = ui.CleanLine(one.Error)
		}
		for _, raw := range one.Tools {
			var t runtime.Tool
			if json.Unmarshal(raw, &t) == nil {
				servers[i].Tools = append(servers[i].Tools, ui.ToolOf(&t))
			}
		}
		marked = append(marked, servers[i].Tools...)
	}
	if _, err := io.WriteString(u.Out, ui.Overview(servers, u.Width(), u.Palette())); err != nil {
		return err
	}
	if legend := ui.Legend(marked); legend != "" {
		u.Info("hints: %s", legend)
	}
	return nil
}
