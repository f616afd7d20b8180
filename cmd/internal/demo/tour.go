package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
)

// TourOptions are the settings of a [Tour].
type TourOptions struct {
	// Executable is the path of mcpctl itself, which runs every command.
	Executable string
	// Version is what the built-in server reports.
	Version string
	// Out gets the transcript as it happens, or with JSON one object at the end.
	Out io.Writer
	// JSON asks for [Transcript] as JSON.
	JSON bool
	// Color sets headings and commands off.
	Color bool
	// Keep leaves the directory behind, and says where it is.
	Keep bool
	// From is where the tour is started: it compiles the generated client if
	// that lies in the project's checkout. "" is the current directory.
	From string
	// TempDir is where the directory is made; "" is the system's place.
	TempDir string
	// Environ is the environment of the commands, less what concerns mcpctl;
	// nil is that of this process.
	Environ []string
	// Records are the registry's; nil are the samples of package registrytest.
	Records []json.RawMessage
}

// Transcript is the outcome of a tour as JSON: {"dir","kept","steps"}. A tour
// that stops has the steps up to there.
type Transcript struct {
	// Dir is where the commands ran; it is gone unless Kept.
	Dir   string `json:"dir"`
	Kept  bool   `json:"kept"`
	Steps []Step `json:"steps"`
}

// Tour shows the whole of mcpctl on built-in parts: it starts a registry and
// an MCP server on loopback ports, and runs one mcpctl command after another
// against them, each a process of its own, in a directory of its own. What is
// printed of a command is what the command wrote.
//
// A command that ends otherwise than the tour expects is a *[StepError]. When
// ctx ends, so does the running command, and the error is ctx's. Whatever
// happens, no process is left; nor is the directory, unless Keep.
func Tour(ctx context.Context, o TourOptions) (err error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.From == "" {
		if o.From, err = os.Getwd(); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	dir, err := os.MkdirTemp(o.TempDir, "mcpctl-demo-")
	if err == nil {
		dir, err = filepath.Abs(dir) // commands run elsewhere, and TMPDIR may be relative
	}
	if err != nil {
		return fmt.Errorf("demo: make a directory: %w", err)
	}
	if !o.Keep {
		defer func() {
			if gone := os.RemoveAll(dir); gone != nil {
				err = errors.Join(err, fmt.Errorf("demo: remove its directory: %w", gone))
			}
		}()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := &screen{w: o.Out, color: o.Color, failed: stop}
	if o.JSON {
		out.w = io.Discard
	}
	r, err := newRunner(dir, o, out)
	if err != nil {
		return err
	}
	parts, err := startParts(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = parts.close() }() // nothing hangs on connections of commands that have ended
	t := &tour{runner: r, screen: out, parts: parts, o: o}
	err = t.run(ctx)
	if o.JSON {
		return errors.Join(err, t.writeJSON(o.Out))
	}
	if out.err != nil { // the reader has gone; the steps' failures follow from it
		return out.err
	}
	return err
}

// tour is one run of the tour.
type tour struct {
	*runner
	*screen

	parts *parts
	o     TourOptions
}

func (t *tour) run(ctx context.Context) error {
	t.line("mcpctl from end to end on built-in parts: no network is used, and none of your files.")
	if t.o.Keep {
		t.line("Everything is made in %s, which is kept.", t.dir)
	} else {
		t.line("Everything is made in %s, which is removed at the end.", t.dir)
	}
	t.line("")
	t.styled("\x1b[1m", "$ cd %s", shellWord(goruntime.GOOS, t.dir))
	t.export("MCPCTL_HOME", filepath.Join(t.dir, "home"))
	t.export("MCPCTL_REGISTRY", t.parts.registry)
	t.export("MCPCTL_OUTPUT", "text") // as on a terminal, which the commands do not have
	for _, section := range []func(context.Context) error{t.find, t.configure, t.use, t.generate, t.serve} {
		if err := section(ctx); err != nil {
			return err
		}
	}
	t.line("")
	t.line("That was the tour. Your own servers: mcpctl search WORDS, mcpctl add NAME, mcpctl --help.")
	if t.o.Keep {
		t.line("Its files are in %s. With", t.dir)
		t.line("  %s", exportLine(goruntime.GOOS, "MCPCTL_HOME", filepath.Join(t.dir, "home")))
		t.line("the server notes still works; workshop ended with the tour.")
	}
	return nil
}

func (t *tour) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(Transcript{Dir: t.dir, Kept: t.o.Keep, Steps: t.steps})
}
