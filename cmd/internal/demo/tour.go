package demo

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"time"
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
	Dir     string `json:"dir"`
	Remains bool   `json:"kept"`
	Steps   []Step `json:"steps"`
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
	return e.Encode(Transcript{Dir: t.dir, Remains: t.o.Keep, Steps: t.steps})
}

// screen is where the transcript goes. Its methods may be called concurrently;
// the output of a command in the background comes between the others'.
type screen struct {
	w      io.Writer
	color  bool
	failed func() // called once, when w takes no more

	mu     sync.Mutex // guards the rest and w
	inLine bool       // the last byte was no line end
	err    error      // what ended the transcript
}

// Write shows a command's own bytes.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(p)
}

func (s *screen) write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := s.w.Write(p)
	s.inLine = p[len(p)-1] != '\n'
	if err != nil {
		s.err = err
		s.failed()
	}
	return n, err
}

// line prints a line of the tour's own, on a line of its own.
func (s *screen) line(format string, a ...any) {
	s.styled("", format, a...)
}

// paragraph prints lines of the tour's own after an empty one.
func (s *screen) paragraph(lines ...string) { s.line("%s", "\n"+strings.Join(lines, "\n")) }

// heading begins a section.
func (s *screen) heading(format string, a ...any) {
	s.line("")
	s.styled("\x1b[1;36m", "## "+format, a...)
}

// command prints what is about to be run.
func (s *screen) command(text string) {
	s.line("")
	s.styled("\x1b[1m", "$ %s", text)
}

func (s *screen) styled(style, format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if style != "" && s.color {
		text = style + text + "\x1b[0m"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inLine {
		text = "\n" + text
	}
	_, _ = s.write([]byte(text + "\n")) // kept in s.err
}

// parts are what the tour's commands talk to, on loopback ports of this
// process: a registry, and an MCP server that one of its records points at.
type parts struct {
	registry string // base URL
	// key is what the workshop's record asks for; new for each tour.
	key     string
	servers []*http.Server
}

// startParts starts both.
func startParts(ctx context.Context, o TourOptions) (*parts, error) {
	p := &parts{key: "demo-" + strings.ToLower(rand.Text()[:8])}
	mux := http.NewServeMux()
	mux.Handle("/mcp", p.locked(NewServer(o.Version).Handler()))
	workshop, err := p.listen(ctx, mux)
	if err != nil {
		return nil, err
	}
	registry, err := registryHandler(o.Records, workshop+"/mcp")
	if err == nil {
		p.registry, err = p.listen(ctx, registry)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("demo: start the registry: %w", err), p.close())
	}
	return p, nil
}

// listen serves h on a free loopback port and returns its URL.
func (p *parts) listen(ctx context.Context, h http.Handler) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	p.servers = append(p.servers, srv)
	go func() { _ = srv.Serve(l) }() // ends with close
	return "http://" + l.Addr().String(), nil
}

// locked lets only those in who have the key.
func (p *parts) locked(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.key)) == 1 {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "the key does not fit"}) // a client that has gone needs no answer
	})
}

// close ends the servers and their connections.
func (p *parts) close() error {
	var errs []error
	for _, s := range p.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
