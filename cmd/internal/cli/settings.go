package cli

import (
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/records"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// loadConfig returns servers.json; a missing file is an empty one. It fails for an
// unreadable file; faults of entries stay with them. It takes the file from dispatch
// if that has read it: see readConfig.
func (env *environment) loadConfig() (*config.File, error) {
	if f := env.file.loaded; f != nil && env.file.path == env.settings.ConfigPath {
		if !env.file.shared {
			env.file.loaded = nil // the caller may change it
		}
		env.file.note(env.ui, f)
		return f, nil
	}
	f, err := readConfig(env.settings.ConfigPath)
	if err != nil {
		return nil, err
	}
	if env.file.wanted && f.Missing() {
		return nil, &config.Problem{File: env.settings.ConfigPath, Message: "there is no such file", Remedy: "mcpctl --config " + shellWord(env.settings.ConfigPath) + " add NAME creates it"}
	}
	env.file.note(env.ui, f)
	return f, nil
}

// note reports, once, what is odd about servers.json as a whole.
func (file *serversFile) note(u *ui.UI, f *config.File) {
	file.noted.Do(func() {
		for _, w := range f.Warnings() {
			if w.Server == "" {
				noteProblem(u, &w)
			}
		}
	})
}

// noteProblem reports something that need not stop a command.
func noteProblem(u *ui.UI, p *config.Problem) {
	u.Note("warning: %s", p.Error())
	if p.Hint() != "" {
		u.Note("hint: %s", p.Hint())
	}
}

// readConfig reads servers.json. A descriptor opened by the shell, as of --config
// <(…), may be a pipe, which can be read only once; it is read up to [records.MaxDocument]. Any
// other path must be a regular file.
func readConfig(path string) (*config.File, error) {
	if !isDescriptor(path) {
		return config.Load(path)
	}
	raw, err := args.ReadFile(path, records.MaxDocument)
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

// shareConfig reads servers.json once for several concurrent connections, which only
// read it.
func (env *environment) shareConfig() error {
	f, err := env.loadConfig()
	if err != nil {
		return err
	}
	env.file.loaded, env.file.path, env.file.shared = f, env.settings.ConfigPath, true
	return nil
}

// entry returns the usable entry of a configured server, and logs its warnings.
func (env *environment) entry(server string) (config.Entry, error) {
	f, err := env.loadConfig()
	if err != nil {
		return config.Entry{}, err
	}
	e, err := f.Use(server)
	if err != nil {
		return config.Entry{}, &Error{Server: server, Err: err, Remedy: hintOf(err)}
	}
	for _, w := range f.Warnings() {
		if w.Server == server {
			noteProblem(env.ui, &w)
		}
	}
	return e, nil
}

// entryOrURL is entry, and that of a server in no file for an empty name.
func (env *environment) entryOrURL(server string) (config.Entry, error) {
	if server == "" && env.adhoc.given() {
		return env.adhoc.entry(), nil
	}
	return env.entry(server)
}

// noteFaults reports entries that cannot be used.
func (env *environment) noteFaults(f *config.File) {
	for _, p := range f.Faults() {
		noteProblem(env.ui, &p)
	}
}
