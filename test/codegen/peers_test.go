package main

import (
	"flag"
	"testing"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
	"github.com/mcpctl/mcpctl/test/require"
)

var withPeers = flag.Bool("peers", false, "try the other generators, too")

func TestPeers(t *testing.T) {
	if !*withPeers {
		t.Skip()
	}
	s, err := suite.Open()
	require.NoError(t, err)
	list, err := peers(t.Context(), "../..")
	require.NoError(t, err)
	for _, p := range list {
		all, err := checkPeer(t.Context(), p, s, "../..")
		require.NoError(t, err)
		outcomes, err := bakeoffPeer(t.Context(), p, "../..")
		require.NoError(t, err)
		t.Logf("%s bake-off: %+v", p.Name, sum(outcomes))
		for _, j := range all {
			t.Logf("%s %s %s: %+v", p.Name, p.Version, j.Draft, j.Tally)
			for _, f := range j.Failures {
				t.Log(f)
			}
		}
	}
}
