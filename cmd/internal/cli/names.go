package cli

import "github.com/mcpctl/mcpctl/runtime/config"

// serverNames returns the configured servers, in the order of the file; none without
// a file.
func (env *environment) serverNames() ([]string, error) {
	return env.serverNamesIn(env.settings.ConfigPath)
}

// serverNamesAt is serverNames before the flags are parsed: words may hold a
// --config.
func (env *environment) serverNamesAt(flags flagSets, words []string) ([]string, error) {
	path := env.settings.ConfigPath
	if v, ok := flags.value(words, "config"); ok {
		path = v
	}
	return env.serverNamesIn(path)
}

func (env *environment) serverNamesIn(path string) ([]string, error) {
	if path == "" {
		var err error
		if path, err = config.Path(env.getenv); err != nil {
			return nil, err
		}
	}
	file, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	env.loaded, env.loadedPath = file, path
	var names []string
	for _, e := range file.Entries() {
		names = append(names, e.Name)
	}
	return names, nil
}
