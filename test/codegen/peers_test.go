package main

import (
	"flag"
	"testing"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
	"github.com/mcpctl/mcpctl/test/wire"
)

var withPeers = flag.Bool("peers", false, "try the other generators, too")

func TestPeers(t *testing.T) {
	if !*withPeers {
		t.Skip()
	}
	s, err := suite.Open()
	wire.Check(t, err)
	list, err := peers(t.Context(), "../..")
	wire.Check(t, err)
	for _, p := range list {
		all, err := judgePeer(t.Context(), p, s, "../..")
		wire.Check(t, err)
		outcomes, err := bakeoffPeer(t.Context(), p, "../..")
		wire.Check(t, err)
		t.Logf("%s bake-off: %+v", p.Name, sum(outcomes))
		for _, j := range all {
			t.Logf("%s %s %s: %+v", p.Name, p.Version, j.Draft, j.Tally)
			for _, f := range j.Failures {
				t.Log(f)
			}
		}
	}
}
