package watch_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/config/watch"
)

// Example prints the names of the servers when the file has changed.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "servers.json")
	changed := make(chan struct{})
	w := watch.File(path, watch.Options{Changed: func(f *config.File, err error) {
		if err != nil {
			return // the file is not there yet, or half written
		}
		for _, e := range f.Entries() {
			fmt.Println(e.Name)
		}
		close(changed)
	}})
	defer w.Close()
	if err := os.WriteFile(path, []byte(`{"mcpServers":{"files":{"command":"files-server"}}}`), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	<-changed
	// Output: files
}
