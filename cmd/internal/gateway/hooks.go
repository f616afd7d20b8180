package gateway

import (
	"reflect"
	"regexp"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// looking is the hooks of config.yaml as a running gateway follows them. The zero value has
// none.
type looking struct {
	mu     sync.Mutex // guards what follows, and is held while a change is taken over
	now    []settings.Hook
	failed string // why what the file says now does not count, as it was logged
}

// open has the hooks of config.yaml look into calls. Those that cannot be used are an error:
// nothing is served without what config.yaml asks for.
func (l *looking) open(g *gateway) error {
	if g.h.Settings.ConfigPath == "" {
		return nil
	}
	all, err := settings.Hooks(g.h.Settings.File())
	if err != nil || len(all) == 0 {
		return err
	}
	l.now = all
	return hook(g.proxy, all)
}

// follow takes over what config.yaml says now. What it said before stays where it cannot be
// used.
func (l *looking) follow(g *gateway) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, err := settings.Hooks(g.h.Settings.File())
	same := err == nil && reflect.DeepEqual(all, l.now)
	if err == nil && !same {
		err = hook(g.proxy, all)
	}
	if err != nil {
		if news := err.Error(); l.failed != news {
			l.failed = news
			g.h.Log.Warn("the hooks cannot be used: what they said before stays", problem(err)...)
		}
		return
	}
	l.now = all
	if l.failed != "" {
		l.failed = ""
		g.h.Log.Warn("the hooks can be used again", "file", g.h.Settings.File())
	}
	if !same {
		g.h.Log.Info("hooks read", "hooks", len(all))
	}
}

// hook has hooks look into the calls of a proxy.
func hook(p *proxy.Proxy, all []settings.Hook) error {
	named := make([]proxy.NamedHook, len(all))
	for i, h := range all {
		pattern, err := regexp.Compile(h.Pattern)
		if err != nil {
			return err
		}
		rule, err := proxy.NewRule(proxy.HookRule{Name: h.Name, Tools: h.Tools, In: proxy.HookPart(h.In), Pattern: pattern, Action: proxy.HookAction(h.Action)})
		if err != nil {
			return err
		}
		named[i] = proxy.NamedHook{Name: h.Name, Hook: rule}
	}
	return p.SetHooks(named)
}
