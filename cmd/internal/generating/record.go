package generating

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/fixture"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// recorder records the answers of one server.
type recorder struct {
	Host
	server string
	s      *Server
}

// recording holds a server's answers for fixtures.
type recording struct {
	exchanges []*fixture.Exchange
}

// recordedFile is one fixture in the JSON answer of generate.
type recordedFile struct {
	Path   string `json:"path"`
	Method string `json:"method"`
	Target string `json:"target"`
}

// maxRecorded bounds one fixture: it is a file of a repository.
const maxRecorded = 1 << 20

// run calls what has no effect: tools that the server declares read-only and that
// take no arguments, prompts without required ones, and resources. Failed calls are
// left out, a lost connection ends the run.
func (r *recorder) run(ctx context.Context, l *gogen.List) (*recording, error) {
	rec := fixture.Record(r.s.Client, "")
	for text, placeholder := range r.secrets() {
		rec.Hide(text, placeholder)
	}
	// outcome returns the errors that end the recording.
	outcome := func(what string, err error) error {
		var refused *runtime.Error
		switch {
		case err == nil, errors.As(err, &refused): // also an answer
			return nil
		case ctx.Err() != nil, errors.Is(err, runtime.ErrClosed):
			return err
		}
		r.UI.Info("warning: %s: %s is not recorded: %v", r.server, what, err)
		return nil
	}
	for _, t := range l.Tools {
		if !safeToCall(t) {
			continue
		}
		_, err := rec.CallTool(ctx, t.Name, nil, nil)
		if err := outcome("tool "+t.Name, err); err != nil {
			return nil, err
		}
	}
	for _, p := range l.Prompts {
		if slices.ContainsFunc(p.Arguments, func(a runtime.PromptArgument) bool { return a.Required }) {
			continue
		}
		_, err := rec.GetPrompt(ctx, p.Name, nil, nil)
		if err := outcome("prompt "+p.Name, err); err != nil {
			return nil, err
		}
	}
	for _, r := range l.Resources {
		_, err := rec.ReadResource(ctx, r.URI, nil)
		if err := outcome("resource "+r.URI, err); err != nil {
			return nil, err
		}
	}
	out := r.keep(rec.Exchanges())
	if len(out.exchanges) == 0 {
		r.UI.Info("note: %s: nothing is recorded: no tool is declared read-only and needs no arguments, and there is nothing to read", r.server)
	}
	return out, nil
}

// keep drops exchanges that are too large for a repository.
func (r *recorder) keep(all []*fixture.Exchange) *recording {
	out := &recording{}
	for _, x := range all {
		if len(x.Result)+len(x.Error) > maxRecorded {
			r.UI.Info("warning: %s: %s %s is not recorded: more than %d MiB", r.server, x.Method, x.Target(), maxRecorded>>20)
			continue
		}
		out.exchanges = append(out.exchanges, x)
	}
	return out
}

// safeToCall reports whether the server declares a tool read-only and its schema
// allows an empty object. Otherwise a tool may act (specification 2025-11-25,
// ToolAnnotations: readOnlyHint is false by default).
func safeToCall(t runtime.Tool) bool {
	if t.Annotations == nil || t.Annotations.ReadOnlyHint == nil || !*t.Annotations.ReadOnlyHint {
		return false
	}
	s, err := schema.Parse(t.InputSchema)
	return err == nil && s.Validate(json.RawMessage("{}")) == nil
}

// leastSecret is the least length of a text to hide: shorter ones occur everywhere
// by chance.
const leastSecret = 6

// secrets returns the texts that mcpctl gave the server and that do not belong in a
// repository: values of variables in its entry, of its environment, of its headers
// and of -H.
func (r *recorder) secrets() map[string]string {
	out := map[string]string{}
	hide := func(text, placeholder string) {
		if len(text) >= leastSecret && out[text] == "" {
			out[text] = placeholder
		}
	}
	for name, value := range r.Headers {
		hide(value, "${"+name+"}")
	}
	entry, err := r.Entry(r.server)
	if err != nil {
		return out // impossible: it was just used
	}
	fields := append([]string{entry.Command, entry.Cwd, entry.URL}, entry.Args...)
	for _, m := range []map[string]string{entry.Env, entry.Headers} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			fields = append(fields, m[name])
		}
	}
	for _, field := range fields {
		names, _ := config.Variables(field)
		for _, name := range names {
			hide(os.Getenv(name), "${"+name+"}")
		}
	}
	expanded, err := entry.Expand(os.LookupEnv)
	if err != nil {
		return out
	}
	for _, m := range []map[string]secret.Text{expanded.Env, expanded.Headers} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			hide(m[name].Reveal(), "${"+name+"}")
		}
	}
	return out
}

// write replaces the fixtures of the same requests; other files stay.
func (r *recording) write(dir string) ([]recordedFile, error) {
	out := make([]recordedFile, 0, len(r.exchanges))
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // fixtures are for sharing, as sources are
		return nil, err
	}
	for _, x := range r.exchanges {
		name, err := x.FileName(1)
		if err != nil {
			return nil, fmt.Errorf("record %s %s: %w", x.Method, x.Target(), err)
		}
		data, err := x.Encode()
		if err != nil {
			return nil, fmt.Errorf("record %s %s: %w", x.Method, x.Target(), err)
		}
		file := filepath.Join(dir, name)
		if err := atomicfile.Write(file, data, 0o644); err != nil {
			return nil, err
		}
		out = append(out, recordedFile{file, x.Method, x.Target()})
	}
	return out, nil
}
