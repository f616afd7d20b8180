package locking

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Client is a client of one server without what is held back of that: it is not listed,
// and calls of it are answered as those of a name that the server does not have. Its
// methods may be called concurrently.
type Client struct {
	*runtime.Client
	watch *watch // nil: nothing is compared
	note  func(format string, a ...any)
}

// NewClient returns a client of a configured server by the lock beside servers.json; of
// an entry without a name nothing is compared. With an error the client is closed.
func NewClient(c *runtime.Client, configPath string, entry config.Entry, note func(format string, a ...any)) (*Client, error) {
	w, err := newWatch(configPath, entry, note)
	if err != nil {
		_ = c.Close() // nothing was asked of it
		return nil, err
	}
	if w != nil {
		w.about(c.Info())
	}
	return &Client{c, w, note}, nil
}

// Warn writes one line about what differs, if anything does. It is to be called at the
// end of the command.
func (c *Client) Warn() {
	if c.watch == nil {
		return
	}
	if text := c.watch.warning(); text != "" {
		c.note("%s", text)
	}
}

// ListPages is [runtime.Client.ListPages] without what is held back.
func (c *Client) ListPages(ctx context.Context, method string) ([]json.RawMessage, error) {
	pages, err := c.Client.ListPages(ctx, method)
	if l, ok := listOf(method); ok && err == nil && c.watch != nil {
		pages = c.watch.pages(l, pages)
	}
	return pages, err
}

// Call is [runtime.Client.Call] of what is not held back.
func (c *Client) Call(ctx context.Context, method string, params json.RawMessage, o *runtime.CallOptions) (json.RawMessage, error) {
	var named struct{ Name, URI string }
	if c.watch != nil && json.Unmarshal(params, &named) == nil {
		var err error
		switch method {
		case revision.MethodToolsCall:
			err = c.refuse(ctx, lockfile.Tools, named.Name)
		case revision.MethodPromptsGet:
			err = c.refuse(ctx, lockfile.Prompts, named.Name)
		case revision.MethodResourcesRead:
			err = c.refuse(ctx, lockfile.Resources, named.URI)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.Client.Call(ctx, method, params, o)
}

// CallTool is [runtime.Client.CallTool] of a tool that is not held back.
func (c *Client) CallTool(ctx context.Context, name string, arguments json.RawMessage, o *runtime.CallOptions) (*runtime.ToolResult, error) {
	if c.watch != nil {
		if err := c.refuse(ctx, lockfile.Tools, name); err != nil {
			return nil, err
		}
	}
	return c.Client.CallTool(ctx, name, arguments, o)
}

// refuse returns the error of a call of what is held back. A list that is not known yet
// is asked for.
func (c *Client) refuse(ctx context.Context, l lockfile.List, key string) error {
	if c.watch.policy.Mode != lockfile.Hold {
		return nil
	}
	v := c.watch.verdict(l)
	if v == nil {
		_, err := c.ListPages(ctx, method(l))
		if rpc := new(runtime.Error); err != nil && !errors.As(err, &rpc) {
			return err
		}
		v = c.watch.verdict(l)
	}
	switch {
	case !v.Holds(l, key):
		return nil
	case l == lockfile.Resources:
		return &runtime.Error{Code: runtime.CodeResourceNotFound, Message: "unknown resource: " + key}
	}
	return &runtime.Error{Code: runtime.CodeInvalidParams, Message: "unknown " + l.Noun() + ": " + key}
}
