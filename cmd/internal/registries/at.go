package registries

import (
	"strings"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// At returns the client of the registry at a URL, of the first one for "". One that is
// not among the sources gets no credentials.
func (p *Command) At(url string) (*registry.Client, error) {
	all, err := p.clients(shortWait)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if url == "" || c.URL() == strings.TrimSuffix(url, "/") {
			return c, nil
		}
	}
	return p.client(config.Entry{URL: url}, shortWait)
}
