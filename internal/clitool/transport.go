package clitool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Options say which tool is made a server, and how.
type Options struct {
	Program Program
	Exposure
	// Name is the server's name, part of the URIs of outputs.
	Name string
	// Depth is how many words a subcommand may have; 0 is 3.
	Depth int
	// Help are the words that make the tool print its help, separated by spaces; ""
	// tries the usual ones.
	Help string
	// Roots are directories: a call may choose one of them, or one below them, to run in.
	// A relative one is below Program.Dir. Where that is "", calls without a choice run in
	// the first.
	Roots []string
	// Tools are changes of single tools.
	Tools []config.ToolOverride
	// Cache is a directory for what is discovered, "" for none.
	Cache string
	// Handler gets progress of calls that have no handler of their own; nil is
	// runtime.NopHandler.
	Handler runtime.Handler
	// Logger; nil discards.
	Logger *slog.Logger
}

func (o *Options) logger() *slog.Logger { return cmp.Or(o.Logger, slog.New(slog.DiscardHandler)) }

// runsAtOnce bounds the processes of one transport; further calls wait for their turn.
const runsAtOnce = 32

// Transport is a command-line tool as a server of the handshake era. Each call is a
// process of its own.
type Transport struct {
	o      Options
	tools  []*tool
	hidden []string // commands that are not exposed
	places *places
	level  atomic.Int32 // the revision.Level of log messages that is wanted

	// lifetime ends the runs; it is the transport's own, cancelled by Close.
	lifetime context.Context //nolint:containedctx // owned, see Close
	cancel   context.CancelFunc
	runs     sync.WaitGroup
	turns    chan struct{}
	closing  sync.Once

	mu      sync.Mutex // guards what follows
	outputs outputs
	closed  bool
}

var _ runtime.Transport = (*Transport)(nil)

// Open discovers the tool's commands, and returns a server of those that are exposed. It
// fails as [Discover] does, or with a [*RuleError].
func Open(ctx context.Context, o Options) (*Transport, error) {
	found, err := Discover(ctx, o)
	if err != nil {
		return nil, err
	}
	commands, err := selectCommands(o.Program.base(), &found.Root, o.Exposure)
	if err != nil {
		return nil, err
	}
	places, err := newPlaces(o.Program.Dir, o.Roots)
	if err != nil {
		return nil, err
	}
	b := &builder{program: &o.Program, found: &found, exposed: o.Exposure, changes: o.Tools, places: places}
	tools, err := b.tools(commands)
	if err != nil {
		return nil, err
	}
	if len(tools) == 0 {
		o.logger().Warn("no command is exposed; cliOnly in the entry exposes them")
	}
	if o.Handler == nil {
		o.Handler = runtime.NopHandler{}
	}
	t := &Transport{o: o, tools: tools, hidden: notExposed(o.Program.base(), &found, commands), places: places, turns: make(chan struct{}, runsAtOnce)}
	t.level.Store(int32(revision.LevelNone))
	t.lifetime, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

// Call implements [runtime.Transport].
func (t *Transport) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if err := t.begin(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", req.Method, runtime.ErrNotSent, err)
	}
	type answer struct {
		result json.RawMessage
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		defer t.runs.Done()
		result, err := t.answer(ctx, req)
		answers <- answer{result, err}
	}()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		return nil, ctx.Err() // the run is being ended; Close waits for that
	}
}

// begin counts a call that Close waits for.
func (t *Transport) begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return runtime.ErrClosed
	}
	t.runs.Add(1)
	return nil
}

func (t *Transport) answer(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	switch req.Method {
	case revision.MethodInitialize:
		return t.initialize(req.Params), nil
	case revision.MethodPing:
		return json.RawMessage(`{}`), nil
	case revision.MethodSetLevel:
		return t.setLevel(req.Params)
	case revision.MethodToolsList:
		raws := []json.RawMessage{}
		for _, tool := range t.tools {
			raws = append(raws, tool.raw)
		}
		var o object
		o.add("tools", raws)
		if len(t.hidden) > 0 {
			o.add("_meta", map[string]any{metaNotExposed: t.hidden})
		}
		return o.raw(), nil
	case revision.MethodToolsCall:
		return t.callTool(ctx, req)
	case revision.MethodResourcesList, revision.MethodResourceTemplatesList, revision.MethodResourcesRead:
		return t.resources(req)
	}
	return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "method not found: " + req.Method}
}

func (t *Transport) initialize(params json.RawMessage) json.RawMessage {
	var p struct{ ProtocolVersion string }
	_ = json.Unmarshal(params, &p) // of another shape: the newest revision
	version := revision.Latest
	if revision.Mutual([]string{p.ProtocolVersion}) != "" {
		version = p.ProtocolVersion
	}
	var o object
	o.add("protocolVersion", version)
	o.add("capabilities", json.RawMessage(`{"tools":{},"resources":{},"logging":{}}`))
	o.add("serverInfo", json.RawMessage(fmt.Sprintf(`{"name":%s,"version":"0"}`, quote(t.o.Program.base()))))
	if len(t.tools) == 0 {
		o.add("instructions", "No command of "+t.o.Program.base()+` is exposed. "cliOnly" in its entry names those that are.`)
	}
	return o.raw()
}

// callTool runs a tool, or says what it would run.
func (t *Transport) callTool(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	var p struct {
		Name      string
		Arguments json.RawMessage
		Meta      map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	i := slices.IndexFunc(t.tools, func(x *tool) bool { return x.name == p.Name })
	if i < 0 {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "unknown tool: " + p.Name}
	}
	words, err := t.tools[i].argv(p.Arguments)
	if err != nil {
		return failure(err.Error()), nil
	}
	program := t.o.Program
	if program.Dir, err = t.places.dir(p.Arguments); err != nil {
		return failure(err.Error()), nil
	}
	if string(p.Meta[MetaDryRun]) == "true" {
		return program.dryRun(words), nil
	}
	select {
	case t.turns <- struct{}{}:
		defer func() { <-t.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.lifetime.Done():
		return nil, runtime.ErrClosed
	}
	if sent := ability.Sent(ctx); sent != nil {
		sent()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.lifetime, cancel)()
	o, err := program.run(ctx, run{words: words, most: wholeSize, chunks: t.progress(ctx, req), complaints: t.logs(ctx, req, p.Name)})
	switch {
	case err != nil && t.lifetime.Err() != nil:
		return nil, runtime.ErrClosed
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return failure(err.Error()), nil
	}
	return t.result(o), nil
}

// Notify implements [runtime.Transport]: no notification of a client matters here. What
// a cancel means is done by the context of its call.
func (t *Transport) Notify(_ context.Context, req *runtime.Request) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return fmt.Errorf("%s: %w", req.Method, runtime.ErrClosed)
	}
	return nil
}

// Close implements [runtime.Transport]: it ends the runs with everything that they have
// started, and waits for that.
func (t *Transport) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel()
	t.runs.Wait()
	t.closing.Do(func() { t.o.Handler.Closed(runtime.ErrClosed) })
	return nil
}
