package gateway

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/config/watch"
)

// allAllowed warns that nothing says what those may do whom serve lets in.
const allAllowed = "whoever has a credential may use every server and tool: config.yaml has no section access (as in access: {rules: [{allow: \"*\", to: \"*\", only: read-only}]})"

// policing is who may do what, as a running gateway follows it: by the section access of
// config.yaml and the files that it names.
type policing struct {
	gate *gate.Gate // nil where no policies are asked
	path string     // of config.yaml
	auth bool       // config.yaml has serve.auth
	asks bool       // clients are asked who they are

	turn sync.Mutex // held while changes are taken over
	// The turn guards these: why what the files say now does not count, as it was logged;
	// what watches the folders of files, nil at the end; and what ends keeping quotas, nil
	// where none are kept.
	failed   string
	watchers map[string]*watch.Watcher
	forget   func()

	mu     sync.Mutex // guards what follows
	files  []string   // that were read last, and folders
	states []fs.FileInfo
	text   []byte // of config.yaml, as it was read last; nil for none
	status PolicyStatus
}

// PolicyStatus is the policies that count.
type PolicyStatus struct {
	// Digest stands for their text, Policies is how many there are, Loaded when they were
	// last read.
	Digest   string    `json:"digest"`
	Policies int       `json:"policies"`
	Loaded   time.Time `json:"loaded"`
	// Problem is why the files, as they are now, do not count, "" if they do.
	Problem string `json:"problem,omitempty"`
	// Unmatched is what they name that does not exist.
	Unmatched []string `json:"unmatched,omitempty"`
}

// open reads the policies. Those that cannot be used are an error: nothing is
// served without what config.yaml asks for.
func (p *policing) open(g *gateway) error {
	if p.path = g.h.Settings.File(); g.o.NoPolicy || g.h.Settings.ConfigPath == "" {
		if g.o.NoPolicy {
			g.h.Log.Warn("no policy is asked: --no-policy")
		}
		p.text, _ = settings.ReadFile(p.path) // it may be missing
		return nil
	}
	p.auth, p.asks = g.h.Settings.Serve.Access.Required(), g.o.asks
	next, unmatched, err := p.read(g)
	if err != nil {
		return err
	}
	p.gate = gate.New(next)
	p.keepQuotas(g)
	p.warn(g, unmatched)
	if p.asks && next.Set == nil {
		g.h.UI.Say("warning: %s", allAllowed)
	}
	return nil
}

// read reads the policies as they are now, and what they name that does not exist.
func (p *policing) read(g *gateway) (next gate.Config, unmatched []settings.Unmatched, err error) {
	p.mu.Lock()
	files := p.files
	p.mu.Unlock()
	states := statesOf(files) // before: what is written meanwhile is read the next time
	read, err := settings.ReadPolicies(p.path, p.auth)
	if !slices.Equal(files, read.Watch) {
		files, states = read.Watch, nil // read again at the next look, once
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
	case read.Text != nil && blank(read.Text) && !blank(p.text): // else all would be allowed while it is written
		err = &config.Problem{File: p.path, Message: "the file is empty", Remedy: "write {} for no settings"}
	default:
		next, unmatched, err = read.Usable(g.names)
	}
	p.files, p.states = files, states
	if err != nil {
		p.status.Problem = err.Error()
		return next, nil, err
	}
	p.text = read.Text
	p.status = PolicyStatus{Digest: next.Set.Digest(), Policies: len(next.Set.Policies()), Loaded: time.Now()}
	return next, unmatched, nil
}

// names are what policies can name.
func (g *gateway) names() settings.Names {
	g.hooks.mu.Lock()
	f := cmp.Or(g.hooks.file, g.o.File)
	g.hooks.mu.Unlock()
	n := g.h.Settings.Names(f, config.StateDir(g.h.Getenv))
	if g.h.Listed != nil {
		n.Listed = func(server string, kind policy.Kind) (names []string, known bool) {
			entry, _ := f.Entry(server)
			return g.h.Listed(entry, kind)
		}
	}
	return n
}

// warn logs what the policies name that does not exist, and shows it in the status.
func (p *policing) warn(g *gateway, unmatched []settings.Unmatched) {
	var all []string
	for i := range unmatched {
		problem := unmatched[i].Problem()
		all = append(all, problem.Error())
		g.h.Log.Warn("a policy names what does not exist", ui.Attrs(problem)...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Unmatched = all
}

// statesOf returns what the system says of files, nil for those that are not there.
func statesOf(files []string) []fs.FileInfo {
	all := make([]fs.FileInfo, len(files))
	for i, path := range files {
		if info, err := os.Stat(path); err == nil {
			all[i] = info
		}
	}
	return all
}

// changed reports whether a file is not as it was.
func (p *policing) changed() bool {
	p.mu.Lock()
	files, before := p.files, p.states
	p.mu.Unlock()
	return !slices.EqualFunc(before, statesOf(files), atomicfile.Unchanged)
}

// follow takes over what the files of policies say now. What they said before
// stays where they cannot be used.
func (p *policing) follow(g *gateway) {
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.watchers == nil || !p.changed() {
		return
	}
	defer p.watchFolders(g)
	waitForText(p.path)
	before := p.gate.Set().Digest()
	next, unmatched, err := p.read(g)
	if err != nil {
		if news := err.Error(); p.failed != news {
			p.failed = news
			g.h.Log.Warn("the policies cannot be used: what they said before stays", ui.Attrs(err)...)
		}
		return
	}
	if p.failed != "" {
		p.failed = ""
		g.h.Log.Warn("the policies can be used again", "file", p.path)
	}
	if next.Set.Digest() == before && (next.Set == nil) == (p.gate.Set() == nil) {
		p.gate.Replace(next) // what is told, and how long labels last
		return
	}
	p.gate.Replace(next)
	p.keepQuotas(g)
	g.proxy.Repolicy()
	p.record(g)
	p.warn(g, unmatched)
	g.h.Log.Info("policies read", "digest", next.Set.Digest(), "policies", len(next.Set.Policies()))
	if p.asks && next.Set == nil {
		g.h.Log.Warn(allAllowed)
	}
}

// watch follows the files until stop is called.
func (p *policing) watch(g *gateway) (stop func()) {
	if p.gate == nil {
		return func() {}
	}
	p.turn.Lock()
	p.watchFolders(g)
	p.turn.Unlock()
	return func() {
		p.turn.Lock()
		watchers := slices.Collect(maps.Values(p.watchers))
		p.watchers = nil
		p.turn.Unlock()
		for _, w := range watchers {
			w.Close()
		}
		if p.forget != nil {
			p.forget()
		}
	}
}

// watchFolders watches the folders of the files that were read last. The caller holds the
// turn.
func (p *policing) watchFolders(g *gateway) {
	if p.watchers == nil {
		p.watchers = map[string]*watch.Watcher{}
	}
	p.mu.Lock()
	files := p.files
	p.mu.Unlock()
	for _, path := range files {
		dir := filepath.Dir(path)
		if p.watchers[dir] == nil {
			// Of a file that is not there, a watcher tells what happens around it.
			none := filepath.Join(dir, ".mcpctl-none.json")
			p.watchers[dir] = watch.File(none, watch.Options{Changed: func(*config.File, error) {}, OthersChanged: func() { p.follow(g) }})
		}
	}
}

// keepQuotas has quotas outlive the process, as soon as there are any. The caller holds the
// turn, or nobody else has p yet.
func (p *policing) keepQuotas(g *gateway) {
	if p.forget == nil && policies.HasQuotas(p.gate.Set()) {
		p.forget = policies.KeepQuotas(p.gate, config.StateDir(g.h.Getenv), g.h.Settings.ConfigPath, g.h.Log)
	}
}

// now returns the policies that count, nil where there are none and none is
// missing.
func (p *policing) now() *PolicyStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate.Set() == nil && p.status.Problem == "" {
		return nil
	}
	s := p.status
	return &s
}
