//go:build !integration && !race

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// referenceServers are taken from generated/, in tests without npm.
func referenceServers(_ context.Context, root string) ([]server, error) {
	return committedServers(root)
}

// committedServers are the reference servers as generated/ has them.
func committedServers(root string) ([]server, error) {
	paths, err := filepath.Glob(filepath.Join(root, "generated", "*", "*.json"))
	if err != nil {
		return nil, err
	}
	var all []server
	for _, at := range paths {
		if name := filepath.Base(at); name != "mcpctl.lock.json" && name != "tools.json" {
			continue
		}
		data, err := os.ReadFile(at)
		if err != nil {
			return nil, err
		}
		list, err := gogen.ParseTools(data)
		if err != nil {
			return nil, err
		}
		all = append(all, server{filepath.Base(filepath.Dir(at)), "as generated/ has it", list})
	}
	return all, nil
}
