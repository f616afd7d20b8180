package cli

import (
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// ConfigCommand is what the commands need of the program that they run in.
type ConfigCommand struct {
	UI       *ui.UI
	Asker    func() ui.Asker
	Getenv   func(string) string
	Settings settings.Settings
	// Sources are what the settings were read from.
	Sources settings.Options
	// Layers reads the layers of servers.json.
	Layers func() (*layers.Set, error)
	// Wanted says that the user's file is named and has to be there.
	Wanted bool
}

// Trust returns what the user has decided about project files.
func Trust(getenv func(string) string) layers.Trust {
	return layers.Trust{Dir: config.StateDir(getenv)}
}

// Places returns where the files of the layers are. With a file that --config names,
// there is that alone.
func Places(getenv func(string) string, user string, alone bool) layers.Places {
	if alone {
		return layers.Places{User: user}
	}
	dir, err := syscall.Getwd() // which has no symbolic links, unlike os.Getwd
	if err != nil {
		return layers.Places{User: user}
	}
	return layers.Find(getenv, user, dir)
}

// ReadLayers reads the layers with the user's file at path, or that file alone.
func ReadLayers(getenv func(string) string, path string, alone bool) (*layers.Set, error) {
	if isDescriptor(path) {
		f, err := readFile(path)
		if err != nil {
			return nil, err
		}
		return layers.Single(f), nil
	}
	return layers.Load(Places(getenv, path, alone), Trust(getenv))
}

// readFile reads servers.json. A descriptor opened by the shell, as of --config
// <(…), may be a pipe, which can be read only once; it is read up to [adding.MaxDocument]. Any
// other path must be a regular file.
func readFile(path string) (*config.File, error) {
	if !isDescriptor(path) {
		return config.Load(path)
	}
	raw, err := args.ReadFile(path, adding.MaxDocument)
	if err != nil {
		return nil, config.FileProblem(path, err)
	}
	return config.Parse(path, raw)
}

// isDescriptor reports whether a path is a descriptor of this process.
func isDescriptor(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}
