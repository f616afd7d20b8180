package eras_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/wire"
)

// allAllowed are policies that allow everything, each call by its arguments.
const allAllowed = `@id("all") permit (principal, action, resource);
@id("never") forbid (principal, action == Action::"call", resource) when { context.args has nobodyHasThis && context.args.nobodyHasThis == true };`

// police gives a proxy, where suites run with policies on, policies that allow everything
// and servers of which all that is not as it is locked is held back. back is what runs
// behind each server, by name.
func police(o *proxy.Options, back map[string]backend) error {
	if !wire.Policies() {
		return nil
	}
	set, err := policy.Compile(policy.Config{Sources: []policy.Source{{Name: "all.cedar", Text: []byte(allAllowed)}}})
	if err != nil {
		return err
	}
	o.Gate, o.Pins = gate.New(gate.Config{Set: set}), &lockfile.Guard{}
	held := map[string]lockfile.Policy{}
	for _, s := range o.Servers {
		locked, err := back[s.Name].lock()
		if err != nil {
			return fmt.Errorf("lock %s: %w", back[s.Name].name, err)
		}
		held[s.Name] = lockfile.Policy{Mode: lockfile.Hold, Locked: locked}
	}
	o.Pins.Set(held)
	return nil
}

// locks are what is locked of each kind of backend, once for all tests.
var locks sync.Map

// lock returns what is locked of backends of a kind: what another of them offers, with what
// a line has it offer later.
func (b backend) lock() (*lockfile.Server, error) {
	once, _ := locks.LoadOrStore(b.name, sync.OnceValues(func() (*lockfile.Server, error) {
		b.o.Unauthorized = 0
		entry, control, err := b.start()
		if err != nil {
			return nil, err
		}
		defer control.close()
		ctx, cancel := context.WithTimeout(context.Background(), *settling)
		defer cancel()
		c, err := dial.Dial(ctx, entry, dial.Options{Handler: runtime.NopHandler{}})
		if err != nil {
			return nil, err
		}
		defer c.Close()
		for w, ok := control.(*childServers); ok && len(w.tell("status")) == 0; { // it has not come yet
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		for _, kind := range []string{"tools", "prompts", "resources"} {
			control.do("change " + kind)
		}
		info := c.Info()
		offer := &lockfile.Offer{About: &lockfile.About{Name: info.Implementation.Name, Title: info.Implementation.Title, Instructions: info.Instructions}}
		for l, method := range []string{revision.MethodToolsList, revision.MethodPromptsList, revision.MethodResourcesList, revision.MethodResourceTemplatesList} {
			pages, err := c.ListPages(ctx, method)
			if err != nil {
				return nil, err
			}
			list := lockfile.List(l)
			for _, page := range pages {
				var items []json.RawMessage
				if err := json.Unmarshal(at(page, list.Member()), &items); err != nil {
					return nil, err
				}
				offer.Items[l] = append(offer.Items[l], lockfile.Items(list, items)...)
			}
		}
		locked := &lockfile.Server{}
		locked.Take(offer)
		return locked, nil
	}))
	return once.(func() (*lockfile.Server, error))()
}

// held checks that, where suites run with policies on, servers are compared with the lock,
// and nothing of them is held back.
func (p *pair) held(servers ...string) error {
	if !wire.Policies() {
		return nil
	}
	if p.guard == nil {
		return errors.New("no server is compared with a lock")
	}
	for _, name := range servers {
		if v := p.guard.Verdict(name); v == nil || v.Unlocked || v.HoldsAny() {
			return fmt.Errorf("%s: held back: %v", name, v)
		}
	}
	return nil
}
