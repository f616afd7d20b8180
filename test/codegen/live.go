package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// liveServers starts the reference servers that test/npm pins and asks them
// for all they list.
func liveServers(ctx context.Context, root string) ([]server, error) {
	var all []server
	for _, l := range []struct{ alias, module string }{
		{"everything", "server-everything"},
		{"filesystem", "server-filesystem"},
		{"memory", "server-memory"},
		{"thinking", "server-sequential-thinking"},
	} {
		s, err := live(ctx, root, l.alias, l.module)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", l.module, err)
		}
		all = append(all, *s)
	}
	return all, nil
}

func live(ctx context.Context, root, alias, module string) (*server, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "mcpctl-live-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script, err := filepath.Abs(filepath.Join(root, "test", "npm", "node_modules", "@modelcontextprotocol", module, "dist", "index.js"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(script); err != nil {
		return nil, fmt.Errorf("%w: make npm installs it", err)
	}
	entry := config.Entry{Name: alias, Command: "node", Args: []string{script}, Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "graph.jsonl")}}
	if alias == "filesystem" {
		entry.Args = append(entry.Args, dir)
	}
	client, err := dial.Dial(ctx, entry, dial.Options{Grace: 20 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	info := client.Info()
	list := &gogen.List{Implementation: info.Implementation, Protocol: info.Version}
	if list.Tools, err = client.ListTools(ctx); err != nil {
		return nil, err
	}
	if info.Has("prompts") {
		if list.Prompts, err = client.ListPrompts(ctx); err != nil {
			return nil, err
		}
	}
	if info.Has("resources") {
		if list.Resources, err = client.ListResources(ctx); err != nil {
			return nil, err
		}
		if list.Templates, err = client.ListResourceTemplates(ctx); err != nil {
			return nil, err
		}
	}
	return &server{alias, module + " " + info.Implementation.Version + ", live", list}, nil
}
