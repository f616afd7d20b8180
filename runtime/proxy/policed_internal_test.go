package proxy

import (
	"os"

	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
	"github.com/mcpctl/mcpctl/runtime/pins"
	"github.com/mcpctl/mcpctl/test/wire"
)

// newAllowed is New; with MCPCTL_TEST_POLICY=1 there are policies, which allow all, and every
// server is compared with a lock. With MCPCTL_TEST_AUDIT=1 what it does is recorded.
func newAllowed(o Options) (*Proxy, error) {
	if os.Getenv("MCPCTL_TEST_POLICY") != "" && o.Gate == nil {
		set, err := policy.Compile(policy.Config{Sources: []policy.Source{{Name: "all.cedar", Text: []byte(`@id("all") permit (principal, action, resource);`)}}})
		if err != nil {
			return nil, err
		}
		o.Gate = gate.New(gate.Config{Set: set})
		if o.Pins == nil { // their servers offer something else in each test: nothing is held back
			o.Pins = &pins.Guard{}
			all := map[string]pins.Policy{}
			for _, s := range o.Servers {
				all[s.Name] = pins.Policy{Mode: pins.Warn, Locked: &pins.Server{}}
			}
			o.Pins.Set(all)
		}
	}
	if o.Journal == nil {
		o.Journal = wire.Journal
	}
	return New(o)
}

// NewAllowed is newAllowed for tests of the package from outside.
func NewAllowed(o Options) (*Proxy, error) { return newAllowed(o) }
