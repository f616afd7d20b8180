// Package configuring is what users decide about mcpctl's configuration: which project
// files are trusted, single values, and where each comes from.
package configuring

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/layers"
)

// Program is what the commands need of the program that they run in.
type Program struct {
	UI       *ui.UI
	Asker    func() ui.Asker
	Getenv   func(string) string
	Settings settings.Settings
	// Flags are those of the command, of which the settings were read.
	Flags *pflag.FlagSet
	// Read reads the user's file, which may be a descriptor.
	Read func(path string) (*config.File, error)
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
	dir, err := os.Getwd()
	if alone || err != nil {
		return layers.Places{User: user}
	}
	return layers.Find(getenv, user, dir)
}
