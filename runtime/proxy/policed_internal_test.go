package proxy

import (
	"context"
	"os"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/test/wire"
)

// newAllowed is New; with MCPCTL_TEST_POLICY=1 there are policies, which allow all, and every
// server is compared with a lock. With MCPCTL_TEST_AUDIT=1 what it does is recorded, with
// MCPCTL_TEST_HOOKS=1 a hook looks into every call: then tests of the fastest way fail, of what
// it allocates and of its progress tokens, and no others.
func newAllowed(o Options) (*Proxy, error) {
	if os.Getenv("MCPCTL_TEST_POLICY") != "" && o.Gate == nil {
		set, err := policy.Compile(policy.Config{Sources: []policy.Source{{Name: "all.cedar", Text: []byte(`@id("all") permit (principal, action, resource);`)}}})
		if err != nil {
			return nil, err
		}
		o.Gate = gate.New(gate.Config{Set: set})
		if o.Pins == nil { // their servers offer something else in each test: nothing is held back
			o.Pins = &lockfile.Guard{}
			all := map[string]lockfile.Policy{}
			for _, s := range o.Servers {
				all[s.Name] = lockfile.Policy{Mode: lockfile.Warn, Locked: &lockfile.Server{}}
			}
			o.Pins.Set(all)
		}
	}
	if o.Journal == nil {
		o.Journal = wire.Journal
	}
	p, err := New(o)
	if err == nil && os.Getenv("MCPCTL_TEST_HOOKS") != "" {
		err = p.SetHooks([]NamedHook{{Name: "looks", Hook: looks{}}})
	}
	return p, err
}

// looks is a hook that wants every call and changes nothing.
type looks struct{}

func (looks) Wants(Target) Phases                       { return PhaseRequest | PhaseResponse }
func (looks) Request(context.Context, *HookCall) error  { return nil }
func (looks) Response(context.Context, *HookCall) error { return nil }

// NewAllowed is newAllowed for tests of the package from outside.
func NewAllowed(o Options) (*Proxy, error) { return newAllowed(o) }
