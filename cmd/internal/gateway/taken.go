package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"syscall"

	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// taken returns what to do about an address that cannot be listened on: it names the serve of
// this user that has it.
func (g *gateway) taken(ctx context.Context, failure error) string {
	other := "choose another address: mcpctl " + g.o.Command + " --http 127.0.0.1:0"
	if !errors.Is(failure, syscall.EADDRINUSE) {
		return other
	}
	_, port, err := net.SplitHostPort(g.o.HTTP)
	if err != nil {
		return other
	}
	serves, _ := control.Find(ctx, config.StateDir(g.h.Getenv)) // without an answer, somebody else has it
	for _, f := range serves {
		var s Status
		if f.PID == os.Getpid() || f.Err != nil || json.Unmarshal(f.Status, &s) != nil {
			continue
		}
		for _, l := range s.Listening {
			if u, err := url.Parse(l); err == nil && u.Port() == port {
				return fmt.Sprintf("mcpctl serve (process %d) has it, see mcpctl status; or %s", f.PID, other)
			}
		}
	}
	return other
}
