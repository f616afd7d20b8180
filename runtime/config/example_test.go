package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// Example adds a server to a servers.json, reads it, and expands the placeholder in it.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, config.FileName)

	err = config.Update(path, func(f *config.File) error {
		return f.Set("gh", []byte(`{"url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}`), false)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := config.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	entry, err := file.Use("gh")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(entry.URL, entry.Headers["Authorization"])

	_, err = entry.Expand(func(string) (string, bool) { return "", false })
	fmt.Println(err)
	// Output:
	// https://api.example.com/mcp Bearer ${TOKEN}
	// server "gh": headers.Authorization needs the environment variable TOKEN, which is not set
}
