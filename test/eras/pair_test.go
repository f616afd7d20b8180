package eras_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/wire"
)

// pair is a proxy with one endpoint in use and one backend, and a client of the
// endpoint.
type pair struct {
	endpoint endpoint
	back     backend
	proxy    *proxy.Proxy
	guard    *lockfile.Guard // nil without policies
	ring     *seal.Keyring
	srv      *httptest.Server
	http     *proxy.HTTPHandler
	sse      *proxy.SSEHandler
	url      string
	world    serverControl
	c        *client
	rec      *recorder // nil where nothing is recorded
	others   []*client
	ctx      context.Context //nolint:containedctx // of the line that runs
	started  bool
	// unsettled is why the backend never was there, nil where it was.
	unsettled error
}

// modern reports whether the proxy speaks the modern era to the backend.
func (p *pair) modern() bool { return p.back.speaksModern(p.endpoint) }

// newPair starts everything.
func newPair(f endpoint, b backend, edits ...func(*proxy.Options)) (*pair, error) {
	entry, w, err := b.start()
	if err != nil {
		return nil, err
	}
	p := &pair{endpoint: f, back: b, world: w, ring: seal.NewKeyring()}
	p.proxy, p.guard, err = newProxy(p.ring, map[string]backend{entry.Name: b}, []config.Entry{entry}, edits...)
	if err != nil {
		return nil, err
	}
	if f.http {
		p.serve()
	}
	p.c, err = p.join("one")
	return p, err
}

// newProxy puts servers behind a proxy whose states and cursors a ring seals. back
// is what runs behind each, by name; edits change the options. The guard is nil where suites run without policies.
func newProxy(ring *seal.Keyring, back map[string]backend, entries []config.Entry, edits ...func(*proxy.Options)) (*proxy.Proxy, *lockfile.Guard, error) {
	byName := map[string]config.Entry{}
	var servers []proxy.Server
	for _, e := range entries {
		byName[e.Name] = e
		servers = append(servers, proxy.Server{Name: e.Name})
	}
	o := proxy.Options{
		Servers: servers, Ring: ring, Journal: wire.Journal, PageSize: 10, Info: runtime.Implementation{Name: "mcpctl", Version: "test"},
		Dial: func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
			return dial.Dial(ctx, byName[key.Server], dial.Options{
				Handler: h, Listen: true, Legacy: key.Legacy, Capabilities: json.RawMessage(key.Capabilities), Grace: 20 * time.Millisecond,
			})
		},
	}
	for _, edit := range edits {
		edit(&o)
	}
	if err := police(&o, back); err != nil {
		return nil, nil, err
	}
	if err := look(&o); err != nil {
		return nil, nil, err
	}
	p, err := proxy.New(o)
	if err == nil {
		err = hook(p)
	}
	return p, o.Pins, err
}

// join connects one more client.
func (p *pair) join(label string) (*client, error) {
	c := newClient(p.endpoint.modern, label)
	if err := p.endpoint.open(p, c); err != nil {
		c.end()
		if c.wire != nil {
			c.close()
		}
		return nil, fmt.Errorf("connect: %w", err)
	}
	p.others = append(p.others, c)
	return c, nil
}

// another connects a client for the rest of one line.
func (p *pair) another(label string) (c *client, done func()) {
	c = must(p.join(label))
	p.others = p.others[:len(p.others)-1]
	return c, c.close
}

func (p *pair) close() {
	for _, c := range p.others {
		c.close()
	}
	if p.srv != nil {
		p.stopServing()
	}
	_ = p.proxy.Close()
	p.world.close()
}

// settle waits until the backend is there. One that is refused first is left
// alone by lists for half a minute, but not by calls.
func (p *pair) settle(ctx context.Context) error {
	for {
		_, err := p.c.tool(ctx, "echo")
		if err == nil || ctx.Err() != nil {
			return err
		}
		_, _ = p.c.request(ctx, ask{method: "tools/call", members: `"name":"b__echo","arguments":{}`}) // its outcome does not matter
		time.Sleep(20 * time.Millisecond)
	}
}

// run runs one line.
func (p *pair) run(l line, limit time.Duration) error {
	if !p.started {
		ctx, cancel := context.WithTimeout(context.Background(), *settling)
		defer cancel()
		p.unsettled = p.settle(ctx)
		p.started = true
	}
	if p.unsettled != nil {
		return p.unsettled
	}
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithTimeout(context.Background(), limit)
	defer cancel()
	p.c.takeQuestions()
	err := attempt(func() { l.check(p) })
	if strays := p.c.takeStrays(); err == nil && strays != nil {
		return fmt.Errorf("stray messages: %s", strings.Join(strays, "; "))
	}
	return err
}
