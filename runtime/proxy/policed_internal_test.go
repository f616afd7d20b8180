package proxy

import (
	"os"

	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
)

// newAllowed is New; with MCPCTL_TEST_POLICY=1 there are policies, which allow all.
func newAllowed(o Options) (*Proxy, error) {
	if os.Getenv("MCPCTL_TEST_POLICY") != "" && o.Gate == nil {
		set, err := policy.Compile(policy.Config{Sources: []policy.Source{{Name: "all.cedar", Text: []byte(`@id("all") permit (principal, action, resource);`)}}})
		if err != nil {
			return nil, err
		}
		o.Gate = gate.New(gate.Config{Set: set})
	}
	return New(o)
}

// NewAllowed is newAllowed for tests of the package from outside.
func NewAllowed(o Options) (*Proxy, error) { return newAllowed(o) }
