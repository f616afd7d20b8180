package dial

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Server connects to a server of servers.json by its name. The file is the one
// that mcpctl itself uses: $MCPCTL_CONFIG, or servers.json in $MCPCTL_HOME or
// the user's configuration directory; Lookup resolves these variables as well.
//
// A name that is not in the file is a *config.NotFoundError whose message names
// the file; other errors are those of [Dial].
func Server(ctx context.Context, name string, o Options) (*runtime.Client, error) {
	lookup := o.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	path, err := config.Path(func(name string) string {
		if value, ok := lookup(name); ok {
			return value
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	file, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	entry, err := file.Use(name)
	if err != nil {
		if _, missing := errors.AsType[*config.NotFoundError](err); missing {
			return nil, fmt.Errorf("%s: %w", path, err) // the path depends on the environment
		}
		return nil, err
	}
	return Dial(ctx, entry, o)
}
