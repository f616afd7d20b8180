// Package registries finds servers in the registries of the settings, in their order of
// precedence, and in the copies of them on this machine.
package registries

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/mirror"
	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// Command is what the commands need of the program that they run in.
type Command struct {
	UI     *ui.UI
	Log    *slog.Logger
	Lookup func(name string) (string, bool) // environment variables
	// Sources are the registries, as entries of remote servers; the first that has a name
	// wins.
	Sources []config.Entry
	// Try is how long one request may take.
	Try time.Duration
	// Patience is how long a search waits for changes of a registry; zero is 3 s.
	Patience  time.Duration
	UserAgent string
	// Auth obtains credentials for registries whose source has an auth object; nil for
	// none.
	Auth *dial.Auth
	// StateDir is where the copies are, "" for none.
	StateDir string
}

// wait is the longest pause that a registry may ask for: short in a command that
// answers at once.
const (
	shortWait = 10 * time.Second
	longWait  = time.Minute
)

// clients returns the clients of all registries, each once, in their order.
func (p *Command) clients(wait time.Duration) ([]*registry.Client, error) {
	var all []*registry.Client
	seen := map[string]bool{}
	for _, source := range p.Sources {
		c, err := p.client(source, wait)
		if err != nil {
			return nil, err
		}
		if !seen[c.URL()] {
			seen[c.URL()] = true
			all = append(all, c)
		}
	}
	return all, nil
}

func (p *Command) client(source config.Entry, wait time.Duration) (*registry.Client, error) {
	source.Name = cmp.Or(source.Name, "registry "+config.DisplayURL(source.URL))
	if err := dial.ClearText(source); err != nil {
		return nil, err
	}
	x, err := source.Expand(p.Lookup)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(x.URL.Reveal())
	if err != nil {
		return nil, &registry.UsageError{Reason: source.Name + ": invalid URL"}
	}
	redact := x.Redactor()
	log := slog.New(redact.Handler(p.Log.Handler()))
	c := &credentials{base: base, headers: config.Revealed(x.Headers), next: http.DefaultTransport}
	if source.Auth != nil && p.Auth != nil {
		x.Entry.Name = config.DisplayURL(source.URL) // for mcpctl --url URL auth login
		// Nobody logs in here: a search has no time for that.
		c.authorizer = p.Auth.Authorizer(x, log, redact)
	}
	return registry.New(registry.Options{
		BaseURL: x.URL.Reveal(), HTTPClient: &http.Client{Transport: c}, Logger: log,
		TryTimeout: p.Try, MaxRetryAfter: wait, UserAgent: p.UserAgent,
	})
}

// copies opens the copies on this machine, nil for none.
func (p *Command) copies() *mirror.Mirror {
	if p.StateDir == "" {
		return nil
	}
	return mirror.Open(p.StateDir, p.Log)
}

// credentials adds the credentials of a registry to requests to its origin. Those that
// a redirect leads elsewhere get none.
type credentials struct {
	base       *url.URL
	headers    map[string]string
	authorizer *auth.Authorizer // nil for none
	next       http.RoundTripper
}

// RoundTrip sends a request, and once more with other credentials if the registry asks
// for them.
func (c *credentials) RoundTrip(req *http.Request) (*http.Response, error) {
	if !origin.Same(req.URL, c.base) {
		return c.next.RoundTrip(req)
	}
	resp, err := c.send(req)
	if err != nil || c.authorizer == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return resp, err
	}
	again, err := c.authorizer.Challenged(req.Context(), resp)
	if err != nil || again {
		_ = resp.Body.Close() // it is not read
	}
	if err != nil {
		return nil, err
	}
	if !again {
		return resp, nil
	}
	return c.send(req)
}

func (c *credentials) send(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	if c.authorizer != nil {
		if err := c.authorizer.Authorize(req.Context(), req); err != nil {
			return nil, err
		}
	}
	return c.next.RoundTrip(req)
}
