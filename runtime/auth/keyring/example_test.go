package keyring_test

import (
	"fmt"

	"github.com/mcpctl/mcpctl/runtime/auth"
	_ "github.com/mcpctl/mcpctl/runtime/auth/keyring"
)

// Example lists the servers whose tokens mcpctl auth login has put into the keyring.
func Example() {
	store := &auth.Store{Path: "auth.json", Keyring: true} // locks are beside the path
	tokens, err := store.Tokens("")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tokens {
		fmt.Println(t.Server)
	}
}
