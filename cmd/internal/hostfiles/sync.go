package hostfiles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/config/watch"
)

// Sync brings the files of hosts that were exported to in line with servers.json.
type Sync struct {
	Export
	// Check changes nothing, and fails where a file differs.
	Check bool

	following bool // what is as it was is not named
}

// Run syncs the hosts of some names, all that were exported to without any.
func (s *Sync) Run(ctx context.Context, names []string) error {
	led, err := hosts.OpenLedger(s.StateDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := host(name); err != nil {
			return err
		}
		if !slices.ContainsFunc(led.Locations(), func(l *hosts.Location) bool { return l.Host.Name == name }) {
			return ui.Usage("nothing was exported to %s", name).WithHint("mcpctl export %s", name)
		}
	}
	f, err := s.Load()
	if err != nil {
		return err
	}
	s.DryRun, s.quiet = s.Check, true
	results := []*exported{}
	var failures error
	for _, l := range led.Locations() {
		if len(names) > 0 && !slices.Contains(names, l.Host.Name) {
			continue
		}
		w := led.Files[l.Key()]
		entries := slices.DeleteFunc(f.Entries(), func(e config.Entry) bool {
			return !w.All && w.Entries[e.Name].Now == ""
		})
		if w.Gateway && !w.All {
			continue // the gateway reads servers.json itself
		}
		out, err := s.write(ctx, l, plan{entries: entries, prune: true})
		if err != nil {
			failures = errors.Join(failures, err) // the other hosts get theirs
			continue
		}
		if out.Changed || !s.following {
			results = append(results, out)
		}
	}
	return errors.Join(failures, s.report(results, failures != nil))
}

// Watch syncs now, and whenever servers.json changes, until ctx ends. Failures after the
// first time go to failed, each once until it is over: the next change may mend them.
func (s *Sync) Watch(ctx context.Context, names []string, log *slog.Logger, failed func(error)) error {
	f, err := s.Load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	changed := make(chan error)
	w := watch.File(s.ConfigPath, watch.Options{File: f, Logger: log, Changed: func(_ *config.File, err error) {
		select {
		case changed <- err:
		case <-ctx.Done():
		}
	}})
	defer func() {
		cancel() // what the watcher has to say is not waited for
		w.Close()
	}()
	if err := s.Run(ctx, names); err != nil {
		return err
	}
	s.following = true
	said := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-changed:
			if err == nil {
				err = s.Run(ctx, names)
			}
			text := ""
			if err != nil && ctx.Err() == nil {
				if text = err.Error(); text != said {
					failed(err)
				}
			}
			said = text
		}
	}
}

func (s *Sync) report(results []*exported, failed bool) error {
	differs := slices.ContainsFunc(results, func(r *exported) bool { return r.Changed })
	switch {
	case len(results) == 0 && s.following:
	case s.UI.WantJSON():
		if err := s.UI.EncodeJSON(map[string]any{"hosts": results}); err != nil {
			return err
		}
	case len(results) == 0 && failed:
	case len(results) == 0:
		s.UI.Info("nothing was exported yet; mcpctl export HOST is the first time")
	default:
		for _, r := range results {
			if err := s.print(r); err != nil {
				return err
			}
		}
	}
	if s.Check && differs {
		return &ui.Error{Kind: "drift", Err: fmt.Errorf("hosts' files differ from servers.json"), Remedy: "mcpctl sync"}
	}
	return nil
}
