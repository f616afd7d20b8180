package registry_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/registry"
)

// Example finds the newest version of a server. BaseURL is empty for the public registry.
func Example() {
	ctx := context.Background()
	records, err := registrytest.Records()
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := registrytest.NewServer(records, registrytest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	client, err := registry.New(registry.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := client.Search(ctx, "workshop")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rec := range list.Records[:min(1, len(list.Records))] {
		fmt.Println(rec.Server.Name)
	}
	// Output:
	// com.example.demo/workshop
}
