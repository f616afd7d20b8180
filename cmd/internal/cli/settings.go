package cli

import (
	"context"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// loadConfig returns servers.json, that of all layers together; a missing file is an
// empty one. It fails for an unreadable file; faults of entries stay with them.
func (env *environment) loadConfig() (*config.File, error) {
	set, err := env.loadLayers()
	if err != nil {
		return nil, err
	}
	return set.File(), nil
}

// missing returns an error where the file that --config names does not exist.
func missing(set *layers.Set) error {
	user := set.Layer(layers.User)
	if !user.File.Missing() {
		return nil
	}
	return &config.Problem{File: user.Path, Message: "there is no such file", Remedy: "mcpctl --config " + shellWord(user.Path) + " add NAME creates it"}
}

// loadLayers returns the layers of servers.json, after asking the user about a project's
// file that is not trusted. It takes what dispatch has read, if it has.
func (env *environment) loadLayers() (*layers.Set, error) {
	set := env.file.set
	if set == nil || env.file.path != env.settings.ConfigPath {
		var err error
		if set, err = ReadLayers(env.getenv, env.settings.ConfigPath, env.settings.ConfigAlone); err != nil {
			return nil, err
		}
		if env.file.wanted {
			if err := missing(set); err != nil {
				return nil, err
			}
		}
	}
	if env.file.shared {
		return set, nil // nothing is written: several read at once
	}
	env.file.set = nil // it may have changed the next time
	if l := set.Untrusted(); l != nil && env.file.command && !env.file.declined {
		// Nobody else waits for the answer; an interrupt ends the question.
		state, err := AskTrust(context.Background(), env.ui, env.ui.Asker(), Trust(env.getenv), l)
		if err != nil {
			return nil, err
		}
		set = set.With(state)
		env.file.declined = state != layers.Used
	}
	env.file.scope, env.file.last = set.File().Path(), set
	env.file.note(env.ui, set)
	return set, nil
}

// note reports, once, what is odd about the files as a whole, and which are not used.
func (file *serversFile) note(u *ui.UI, set *layers.Set) {
	file.noted.Do(func() {
		if file.command {
			for _, w := range set.Warnings() {
				noteProblem(u, &w)
			}
		}
		f := set.File()
		for _, w := range f.Warnings() {
			if w.Server == "" {
				noteProblem(u, &w)
			}
		}
	})
}

// noteProblem reports something that need not stop a command.
func noteProblem(u *ui.UI, p *config.Problem) {
	u.Info("warning: %s", p.Error())
	if p.Hint() != "" {
		u.Info("hint: %s", p.Hint())
	}
}

// shareConfig reads servers.json once for several concurrent connections, which only
// read it.
func (env *environment) shareConfig() error {
	set, err := env.loadLayers()
	if err != nil {
		return err
	}
	env.file.set, env.file.path, env.file.shared = set, env.settings.ConfigPath, true
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
		return config.Entry{}, &Error{Server: server, Err: err, Remedy: ui.HintOf(err)}
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
