package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/locking"
	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// session is one command's connection to one server.
type session struct {
	*locking.Client
	a *app
	// server is the configured name, the redacted URL of --url, or a name for the command
	// behind "--".
	server string
	// entry is the configured one, empty for a server that is in no file.
	entry config.Entry
	// filtered says that lists lack what policies hide; package localpolicy stores them.
	filtered bool

	mu sync.Mutex // guards what follows: lists are asked for side by side
	// missing are servers missing from lists that the user was warned of.
	missing map[string]bool
	// lists are to be stored, by the member that holds them in a result.
	lists map[string][]json.RawMessage
}

// with connects to the server named by the first word, --url or a command behind "--",
// runs f with the remaining words, and closes the connection. f's output is written
// before that.
func (a *app) with(ctx context.Context, words []string, f func(s *session, words []string) error) error {
	server, name := a.adhoc.label(), ""
	if !a.adhoc.given() {
		server, name, words = words[0], words[0], words[1:]
	}
	dial := a.dial
	if dial == nil {
		dial = a.connect
	}
	h := a.newHost(server)
	if err := h.Check(); err != nil {
		return err
	}
	c, err := dial(ctx, name, h)
	if err != nil {
		return a.withServer(server, h.outcome(err))
	}
	s := &session{a: a, server: server}
	if name != "" {
		s.entry = h.entry
		s.filtered = h.filtered
	}
	if s.Client, err = locking.NewClient(c, a.settings.ConfigPath, s.entry, a.ui.Info); err != nil {
		return a.withServer(server, err)
	}
	defer s.Warn()
	s.wantLog(ctx)
	err = policies.Refused(h.explain(c, h.outcome(onTheWay(f(s, words)))), a.named(s.entry).Name)
	var keeping sync.WaitGroup
	keeping.Go(s.keep) // while the server ends
	defer keeping.Wait()
	// A server that ends badly does not change the result.
	if closing := h.close(c); closing != nil {
		a.log.Debug("close", "server", server, "err", closing)
	}
	return a.withServer(server, err)
}

// wraps reports whether the server is a command-line tool of servers.json.
func (s *session) wraps() bool { return s.entry.Transport() == config.TransportCLI }

// onServer makes cmd a command on a server. Run gets the words after the server's
// name; least and most count that as well, see words.
func (a *app) onServer(cmd *cobra.Command, least, most int, run func(ctx context.Context, s *session, words []string) error) *cobra.Command {
	usage := cmd.Use
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if err := a.words(words, least, most, usage); err != nil {
			return err
		}
		return a.with(cmd.Context(), words, func(s *session, words []string) error { return run(cmd.Context(), s, words) })
	}
	a.adhoc.takenBy(cmd)
	a.completeServer(cmd)
	return cmd
}

// wantLog requests the server's log messages for -v. Errors are ignored.
func (s *session) wantLog(ctx context.Context) {
	if s.a.settings.Verbose == 0 || !s.Info().Has("logging") {
		return
	}
	level := map[bool]string{true: "debug", false: "info"}[s.a.settings.Verbose > 1]
	if _, err := s.Call(ctx, revision.MethodSetLevel, json.RawMessage(`{"level":"`+level+`"}`), nil); err != nil {
		s.a.log.Debug(revision.MethodSetLevel, "server", s.server, "err", err)
	}
}

// withServer adds the server's name to a failure, for the error object of --json.
func (env *environment) withServer(server string, err error) error {
	var own *Error
	switch {
	case err == nil, errors.As(err, &own) && own.Server != "":
		return err
	case errors.As(err, &own):
		own.Server = server
		return err
	}
	return &Error{Server: server, Err: err, Remedy: ui.HintOf(err)}
}

// words checks the number of a command's words. Both bounds include the server, which
// is absent where it is not given by name. A most of -1 is no bound.
func (env *environment) words(words []string, least, most int, usage string) error {
	if env.adhoc.given() {
		least, most = least-1, max(most-1, -1)
		usage = strings.Replace(usage, "SERVER ", "", 1)
		usage = strings.TrimSuffix(usage, " SERVER")
	}
	switch {
	case len(words) < least:
		return usagef("missing argument: mcpctl %s", usage).withHint("mcpctl %s --help", strings.Fields(usage)[0])
	case most >= 0 && len(words) > most:
		return usagef("unexpected argument %q: mcpctl %s", words[most], usage).withHint("mcpctl %s --help", strings.Fields(usage)[0])
	}
	return nil
}

// command returns a command line that names this session's server.
func (s *session) command(verb string, words ...string) string {
	parts := []string{"mcpctl", verb, ui.CleanLine(s.server)}
	var started []string
	if given := s.a.adhoc.command; given != nil {
		parts = parts[:2]
		started = append([]string{"--"}, append(given[:1:1], config.MaskArgs(given[1:])...)...)
	}
	if s.a.settings.URL != "" {
		url := shellWord(s.server)
		if s.server != s.a.settings.URL {
			url = "URL" // not quoted: it may be secret
		}
		parts = []string{"mcpctl", "--url", url, verb}
	}
	for _, w := range slices.Concat(words, started) {
		parts = append(parts, shellWord(ui.CleanLine(w)))
	}
	return strings.Join(parts, " ")
}

// watched makes a call and shows its progress.
func (s *session) watched(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	line := s.a.ui.StartProgress()
	defer line.Stop()
	// Progress is always requested: it restarts the call's timeout.
	return s.Call(ctx, method, params, &runtime.CallOptions{Progress: line.Update})
}

// list fetches all pages of a list and returns the object to print and its entries.
// Of a server that does not declare the list nothing is asked: it is empty.
func (s *session) list(ctx context.Context, method, key string) (json.RawMessage, []json.RawMessage, error) {
	if !declares(s.Info(), key) {
		return json.RawMessage(`{"` + key + `":[]}`), nil, nil
	}
	pages, err := s.ListPages(ctx, method)
	if err != nil {
		return nil, nil, s.explain(err, key)
	}
	joined, items, err := ui.JoinPages(pages, key)
	if err != nil {
		return nil, nil, &runtime.ProtocolError{Reason: method + ": " + err.Error()}
	}
	s.heard(key, items)
	return joined, items, nil
}

// heard notes a whole list of a configured server, for keep.
func (s *session) heard(key string, items []json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entry.Name == "" || s.missing != nil || s.filtered {
		return
	}
	if s.lists == nil {
		s.lists = map[string][]json.RawMessage{}
	}
	s.lists[key] = items
}

// keep stores the lists that were heard.
func (s *session) keep() {
	s.mu.Lock()
	lists := s.lists
	s.mu.Unlock()
	for key, items := range lists {
		s.a.known().Keep(s.entry, key, items)
	}
}

// printList prints a list as JSON, or its entries by show.
func (s *session) printList(ctx context.Context, method, key string, show func(items []json.RawMessage) error) error {
	raw, items, err := s.list(ctx, method, key)
	if err != nil {
		return err
	}
	declared := declares(s.Info(), key)
	if !declared {
		s.a.ui.Info("%s offers no %s", ui.CleanLine(s.server), capabilityOf(key))
	}
	s.noteUnexposed(raw)
	switch {
	case s.a.ui.WantJSON():
		return s.a.ui.PrintJSON(raw)
	case !declared:
		return nil
	}
	return show(items)
}

// noteUnexposed names the commands of a command-line tool that are no tools.
func (s *session) noteUnexposed(list json.RawMessage) {
	if names := clitool.NotExposed(list); s.entry.CLI && len(names) > 0 {
		s.a.ui.Info("not exposed: %s; cliOnly in the entry exposes them", ui.CleanLine(ui.Few(names)))
	}
}

// declares reports whether the server declares a list, by its member. For tools it is
// asked in any case: some small servers have nothing else, and declare nothing.
func declares(i runtime.ServerInfo, key string) bool {
	return key == "tools" || i.Has(capabilityOf(key))
}

// capabilityOf returns the capability that a list, by its member, belongs to.
func capabilityOf(key string) string {
	if key == "resourceTemplates" {
		return "resources"
	}
	return key
}

// explain adds what the server does offer to "method not found".
func (s *session) explain(err error, key string) error {
	var rpc *runtime.Error
	if !errors.As(err, &rpc) || rpc.Code != runtime.CodeMethodNotFound {
		return err
	}
	var offers []string
	for _, c := range []string{"tools", "resources", "prompts"} {
		if c != key && s.Info().Has(c) {
			offers = append(offers, c)
		}
	}
	e := &Error{Err: fmt.Errorf("the server has no %s: %w", strings.ToLower(key), err)}
	if len(offers) > 0 {
		e.Remedy = "it offers " + strings.Join(offers, " and ")
	}
	return e
}

// entries decodes the entries of a list. A malformed one is left out with a note, so
// that it does not hide the others.
func entries[T any](s *session, items []json.RawMessage, raw func(*T, json.RawMessage)) []T {
	out := make([]T, 0, len(items))
	for i, item := range items {
		var v T
		if err := json.Unmarshal(item, &v); err != nil {
			s.a.ui.Info("entry %d is left out: %v", i+1, err)
			continue
		}
		raw(&v, item)
		out = append(out, v)
	}
	return out
}

// stdinNote is how long standard input may be silent before a note says that it is
// being read.
const stdinNote = 2 * time.Second

// readStdin reads all of standard input. It returns when ctx ends; the read itself
// cannot be cancelled and ends with the process.
func (env *environment) readStdin(ctx context.Context) ([]byte, error) {
	type read struct {
		raw []byte
		err error
	}
	done := make(chan read, 1)
	go func() {
		raw, err := args.ReadAll(env.ui.In)
		if err != nil {
			err = fmt.Errorf("read standard input: %w", err)
		}
		done <- read{raw, err}
	}()
	note := time.NewTimer(stdinNote)
	defer note.Stop()
	for {
		select {
		case r := <-done:
			return r.raw, r.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-note.C:
			env.ui.Info("reading the arguments from standard input; '{}' as an argument, or </dev/null, gives none")
		}
	}
}

// piped reports whether standard input may hold an object: a file, pipe or socket, not
// a terminal or a device such as /dev/null.
func (env *environment) piped() bool {
	if env.ui.In == nil || env.ui.InTTY {
		return false
	}
	in := env.ui.In
	f, ok := in.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}
