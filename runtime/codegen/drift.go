package codegen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

// drift holds the digests of the server's tools, once listed.
type drift struct {
	mu      sync.Mutex
	digests map[string]string // nil until listed
	version uint64            // of the list, as the caller counts them
	flight  *listing          // the running one
}

// listing is one request of the tools.
type listing struct {
	done      chan struct{}
	err       error
	cancelled bool // the call that asked was cancelled
}

// versioned is a caller whose number changes with each
// notifications/tools/list_changed.
type versioned interface{ ToolsVersion() uint64 }

// checkDrift compares a tool with the one that the code was generated from. The
// server's tools are listed at the first call, and again after a failure or a
// change; concurrent calls wait for the same list.
func (c *Client) checkDrift(ctx context.Context, tool string, s *runtime.CallSettings) error {
	want, known := c.surface.Tools[tool]
	if !known {
		return nil
	}
	digests, err := c.toolDigests(ctx)
	if err != nil {
		if s.Drift == runtime.DriftWarn {
			return nil // the call itself fails if something is wrong with the server
		}
		return fmt.Errorf("tool %s: whether it has changed cannot be told: %w", tool, err)
	}
	got, ok := digests[tool]
	if got == want {
		return nil
	}
	e := &runtime.DriftError{Server: c.surface.Server, Tool: tool, Want: want, Got: got}
	if ok {
		e.Changes = []runtime.Change{{Message: "the server's definition is another one"}}
	} else {
		e.Changes = []runtime.Change{{Message: "the server does not list it"}}
	}
	if s.OnDrift != nil {
		s.OnDrift(e)
	}
	if s.Drift == runtime.DriftWarn {
		return nil
	}
	return e
}

func (c *Client) toolDigests(ctx context.Context) (map[string]string, error) {
	lister, ok := c.caller.(runtime.ToolLister)
	if !ok {
		return nil, c.unable("list tools", "Tools")
	}
	d := &c.drift
	for {
		version := uint64(0)
		if v, ok := c.caller.(versioned); ok {
			version = v.ToolsVersion()
		}
		d.mu.Lock()
		if digests := d.digests; digests != nil && d.version == version {
			d.mu.Unlock()
			return digests, nil
		}
		flight := d.flight
		if flight == nil {
			flight = &listing{done: make(chan struct{})}
			d.flight = flight
			d.mu.Unlock()
			return d.list(ctx, lister, version, flight)
		}
		d.mu.Unlock()
		select {
		case <-flight.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if flight.err != nil && !flight.cancelled {
			return nil, flight.err
		}
	}
}

// list lists the tools for all calls that wait for the flight.
func (d *drift) list(ctx context.Context, lister runtime.ToolLister, version uint64, flight *listing) (map[string]string, error) {
	digests := map[string]string{}
	err := errors.New("the caller panicked") // stays if Tools panics
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if err == nil {
			d.digests, d.version = digests, version
		}
		flight.err, flight.cancelled = err, err != nil && ctx.Err() != nil
		d.flight = nil
		close(flight.done)
	}()
	err = collect(ctx, lister, digests)
	if err != nil {
		return nil, err
	}
	return digests, nil
}

func collect(ctx context.Context, lister runtime.ToolLister, digests map[string]string) error {
	for tool, err := range lister.Tools(ctx) {
		if err != nil {
			return err
		}
		raw := tool.Raw
		if raw == nil { // made by hand
			if raw, err = json.Marshal(tool); err != nil {
				return fmt.Errorf("tool %s: %w", tool.Name, err)
			}
		}
		of, err := DigestTool(raw)
		if err != nil {
			return fmt.Errorf("tool %s: %w", tool.Name, err)
		}
		digests[tool.Name] = of.Structure
	}
	return nil
}
