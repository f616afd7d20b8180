package gateway

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// Status is one serve in the output of mcpctl status --json.
type Status struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	// Transport is stdio, http, socket or session, Listening the URLs or the paths of the
	// others than stdio.
	Transport string       `json:"front"`
	Listening []string     `json:"listening,omitempty"`
	Config    ConfigStatus `json:"config"`
	// Access is nil where nobody is asked for a credential.
	Access *AccessStatus `json:"access,omitempty"`
	// Policy is nil where config.yaml has no section access.
	Policy *PolicyStatus `json:"policy,omitempty"`
	// Audit is nil where config.yaml has no section audit.
	Audit *auditing.Status `json:"audit,omitempty"`
	proxy.Status
}

// ConfigStatus is the state of serve's servers.json.
type ConfigStatus struct {
	Path string `json:"path"`
	// Loaded is when it was last applied.
	Loaded time.Time `json:"loaded"`
	// Problem is why the current file, or some of its entries, cannot be applied, ""
	// if all is.
	Problem string `json:"problem,omitempty"`
}

// AccessStatus is who may come to serve, who has, and who was refused.
type AccessStatus struct {
	// Providers are the kinds of credentials that are accepted, in their order.
	Providers []string `json:"providers"`
	// Principals is how many have come, Recent up to 100 of them, who was seen last
	// first.
	Principals int       `json:"principals"`
	Recent     []Visitor `json:"recent"`
	// Refused counts requests that were not let in, by a word for the reason.
	Refused map[string]uint64 `json:"refused"`
	// IgnoredHeaders counts requests with an identity header that did not come from the
	// proxy.
	IgnoredHeaders uint64 `json:"ignoredHeaders,omitempty"`
	// Problem is why a file is not in force as it is, "" if all are.
	Problem string `json:"problem,omitempty"`
}

// auditBound is how long the log may take to say how it is.
const auditBound = time.Second

// noteConfig records that servers.json was applied, except entries with a fault, or
// could not be.
func (g *gateway) noteConfig(path string, err error, faults ...config.Problem) {
	c := ConfigStatus{Path: path, Loaded: time.Now()}
	texts := make([]string, len(faults))
	for i := range faults {
		texts[i] = faults[i].Error()
	}
	c.Problem = strings.Join(texts, "; ")
	if before := g.shown.config.Load(); err != nil && before != nil {
		c = *before
		c.Problem = err.Error()
	}
	g.shown.config.Store(&c)
}

// status returns the status of this process.
func (g *gateway) status() any {
	s := Status{PID: os.Getpid(), Version: g.h.Info.Version, Started: g.shown.started, Transport: "stdio", Status: g.proxy.Status()}
	switch {
	case g.o.Session != nil:
		s.Transport = "session"
	case g.o.Socket != "":
		s.Transport = "socket"
	case g.o.HTTP != "":
		s.Transport = "http"
	}
	if urls := g.shown.addrs.Load(); urls != nil {
		s.Listening = *urls
	}
	if d := g.authenticator.Load(); d != nil {
		s.Access = d.status()
	}
	g.hooks.status(&s.Status)
	s.Policy = g.policies.now()
	ctx, cancel := context.WithTimeout(context.Background(), auditBound)
	defer cancel()
	s.Audit = g.audit.Status(ctx)
	if c := g.shown.config.Load(); c != nil {
		s.Config = *c
	}
	return s
}

// publishStatus makes this process visible to mcpctl status until hide is called, unless
// there is no directory for a socket.
func (g *gateway) publishStatus(ctx context.Context) (hide func()) {
	s, err := control.Listen(ctx, config.StateDir(g.h.Getenv), g.status, g.restart)
	if err != nil {
		g.h.Log.Info("mcpctl status will not find this process", "err", err)
		return func() {}
	}
	return func() {
		if err := s.Close(); err != nil {
			g.h.Log.Info("the socket for mcpctl status was not closed as it should", "err", err)
		}
	}
}
