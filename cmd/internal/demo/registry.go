package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mcpctl/mcpctl/internal/registrytest"
)

// registryHandler returns a registry of records, or of the samples if they are nil. Its
// record of the workshop points at that URL; "" leaves it as it is.
func registryHandler(records []json.RawMessage, workshop string) (http.Handler, error) {
	if records == nil {
		var err error
		if records, err = registrytest.Records(); err != nil {
			return nil, err
		}
	}
	o := registrytest.Options{}
	if workshop != "" {
		o.RemoteURLs = map[string]string{registrytest.Workshop: workshop}
	}
	return registrytest.NewServer(records, o)
}

// Registry serves the sample records on a free loopback port until ctx ends. ready is
// told its URL.
func Registry(ctx context.Context, ready func(url string) error) error {
	handler, err := registryHandler(nil, "")
	if err != nil {
		return fmt.Errorf("demo: start the registry: %w", err)
	}
	var p parts
	defer func() { _ = p.close() }()
	url, err := p.listen(ctx, handler)
	if err == nil {
		err = ready(url)
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
