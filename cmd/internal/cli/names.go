package cli

import "github.com/mcpctl/mcpctl/runtime/config"

// serverNames returns the configured servers, in the order of the file; none without
// a file.
func (a *app) serverNames() ([]string, error) { return a.serverNamesIn(a.settings.ConfigPath) }

// serverNamesAt is serverNames before the flags are parsed: words may hold a
// --config.
func (a *app) serverNamesAt(flags flagSets, words []string) ([]string, error) {
	path := a.settings.ConfigPath
	if v, ok := flags.value(words, "config"); ok {
		path = v
	}
	return a.serverNamesIn(path)
}

func (a *app) serverNamesIn(path string) ([]string, error) {
	if path == "" {
		var err error
		if path, err = config.Path(a.getenv); err != nil {
			return nil, err
		}
	}
	file, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	a.loaded, a.loadedPath = file, path
	var names []string
	for _, e := range file.Entries() {
		names = append(names, e.Name)
	}
	return names, nil
}
