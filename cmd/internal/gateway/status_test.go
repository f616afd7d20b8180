package gateway

import (
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// TestNoteConfig: status reports a file, and entries, that are not applied, until
// they are.
func TestNoteConfig(t *testing.T) {
	var g gateway
	said := func(want string) {
		t.Helper()
		if c := g.shown.config.Load(); c.Problem != want || c.Path != "s.json" || c.Loaded.IsZero() {
			t.Errorf("got %+v, want the problem %q", c, want)
		}
	}
	g.noteConfig("s.json", nil)
	said("")
	g.noteConfig("", errors.New("broken"))
	said("broken")
	fault := config.Problem{File: "s.json", Line: 3, Column: 5, Server: "fs", Message: "no"}
	g.noteConfig("s.json", nil, fault, fault)
	said(`s.json:3:5: server "fs": no; s.json:3:5: server "fs": no`)
	g.noteConfig("s.json", nil)
	said("")
}
