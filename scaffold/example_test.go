package scaffold_test

import (
	"encoding/json"
	"fmt"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Example makes an entry of servers.json out of a publisher's server.json.
func Example() {
	server, err := registry.ParseServer(json.RawMessage(`{
		"name": "com.example/issues", "description": "Issues", "version": "1.2.0",
		"packages": [{
			"registryType": "npm", "identifier": "@example/issues", "version": "1.2.0",
			"transport": {"type": "stdio"},
			"environmentVariables": [{"name": "ISSUES_TOKEN", "isRequired": true, "isSecret": true}]
		}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := scaffold.New(*server, scaffold.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Alias, string(plan.Entry))
	for _, r := range plan.Required {
		fmt.Println("needs", r.Name, r.Secret)
	}
	// Output:
	// issues {"command":"npx","args":["-y","@example/issues@1.2.0"],"env":{"ISSUES_TOKEN":"${ISSUES_TOKEN}"}}
	// needs ISSUES_TOKEN true
}
