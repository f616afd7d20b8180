// Package management is an MCP server of mcpctl itself: its tools search the registry, show
// what is configured, and add and remove servers with a person's consent.
//
// Each tool runs a command of mcpctl with --json, so its result is what docs say of that
// command. What changes servers.json is shown to a person first, as a form that the host
// asks (elicitation). The arguments of a tool come from a model, and what registries say
// comes from strangers: neither is ever an answer to that question, and both are shown
// only if a person can read them as they are.
package management

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

const (
	// maxLine bounds a message of the host; a longer one ends the connection.
	maxLine = 4 << 20
	// maxRunning bounds the tools that run at once; further calls wait.
	maxRunning = 4
	// runTimeout bounds one command, without the time in which a person is asked.
	runTimeout = 2 * time.Minute
	// drain is how long commands may go on after the end of input.
	drain = time.Second
)

// Options are what the server needs of the program that it runs in.
type Options struct {
	// Version of mcpctl, for serverInfo.
	Version string
	// ConfigPath is where servers.json is, for people.
	ConfigPath string
	// Run runs mcpctl with these words. Approve, if not nil, decides about an entry that
	// the command adds.
	Run func(ctx context.Context, approve adding.Approve, words ...string) Outcome
}

// Outcome is what a command of mcpctl has printed.
type Outcome struct {
	Stdout, Stderr []byte
	Code           int
}

// server is one run of mcpctl mcp.
type server struct {
	o       Options
	consent consent
	running chan struct{}   // has room for maxRunning
	gone    context.Context //nolint:containedctx // ended when the host has gone, so that nobody waits for its answers
}

// Serve speaks MCP on r and w until r ends or ctx does.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	gone, leave := context.WithCancelCause(context.Background())
	defer leave(nil)
	s := &server{o: o, consent: newConsent(), running: make(chan struct{}, maxRunning), gone: gone}
	mcp := &runtimetest.Server{
		Name: "mcpctl", Title: "mcpctl: MCP servers of this user", Version: o.Version,
		Instructions: instructions,
		Versions:     []string{runtimetest.RevJuly, runtimetest.RevNov, runtimetest.RevJune, runtimetest.RevMar, runtimetest.Rev2024},
		Capabilities: json.RawMessage(`{"tools":{}}`),
		Tools:        s.tools(),
		Drain:        drain, Strict: true,
		Private: []string{"tools/list"},
	}
	err := mcp.Serve(ctx, &lines{r: r, gone: leave}, struct{ io.Writer }{w})
	if ctx.Err() != nil {
		return nil // that is how it is told to end
	}
	return errors.Join(err, tooLong(context.Cause(gone)))
}

// errTooLong is a message beyond maxLine.
var errTooLong = fmt.Errorf("a message of the host has more than %d bytes", maxLine)

func tooLong(err error) error {
	if errors.Is(err, errTooLong) {
		return err
	}
	return nil
}

// lines reads lines up to maxLine, and tells when there are no more.
type lines struct {
	r    io.Reader
	gone context.CancelCauseFunc
	n    int // bytes since the last line
}

func (l *lines) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if at := bytes.LastIndexByte(p[:n], '\n'); at >= 0 {
		l.n = n - at - 1
	} else if l.n += n; l.n > maxLine {
		n, err = 0, errTooLong
	}
	if err != nil {
		l.gone(err)
	}
	return n, err
}

// tool returns a tool. Arguments that T does not have are refused; an error becomes a
// result with isError, which the model can act on.
func tool[T any](s *server, def string, call func(ctx context.Context, c *runtimetest.Call, in T) (any, error)) runtimetest.Tool {
	return runtimetest.Tool{Definition: json.RawMessage(def), Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		var in T
		d := json.NewDecoder(bytes.NewReader(c.Arguments))
		d.DisallowUnknownFields()
		if err := d.Decode(&in); err != nil {
			return failed("invalid arguments: " + strings.TrimPrefix(err.Error(), "json: "))
		}
		select {
		case s.running <- struct{}{}:
			defer func() { <-s.running }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		res, err := call(ctx, c, in)
		if question, ok := errors.AsType[*inputRequired](err); ok {
			return question.result, nil
		}
		if err != nil {
			return failed(err.Error())
		}
		return structured(res)
	}}
}

// content is one text of a result.
type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// maxText bounds the text of a failure.
const maxText = 4000

// failed is the result of a tool that could not do its work.
func failed(text string) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"content": []content{{"text", plain.Clip(plain.Text(text), maxText)}}, "isError": true})
}

// structured is the result of a tool: the object and, for clients that have no use for
// it, the same as text.
func structured(v any) (json.RawMessage, error) {
	raw, err := plain.JSON(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"content": []content{{"text", string(raw)}}, "structuredContent": raw})
}

// run runs a command of mcpctl, and returns the object that it prints. Of a command that
// fails with one of the codes it is the object as well.
func (s *server) run(ctx context.Context, approve adding.Approve, words []string, codes ...int) (map[string]any, error) {
	out := s.o.Run(ctx, approve, words...)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mcpctl %s did not end in time", words[0])
	}
	if out.Code != 0 && !slices.Contains(codes, out.Code) {
		return nil, errors.New(failureOf(out))
	}
	d := json.NewDecoder(bytes.NewReader(out.Stdout))
	d.UseNumber()
	var res map[string]any
	if err := d.Decode(&res); err != nil {
		return nil, errors.New(failureOf(out))
	}
	res, _ = cleaned(res).(map[string]any)
	if notes := notesOf(out.Stderr); len(notes) > 0 {
		res["notes"] = notes
	}
	return res, nil
}

// failureOf returns what a command has said of its failure.
func failureOf(out Outcome) string {
	all := strings.Split(strings.TrimSpace(string(out.Stderr)), "\n")
	var line struct {
		Error struct{ Message, Hint string }
	}
	if json.Unmarshal([]byte(all[len(all)-1]), &line) != nil || line.Error.Message == "" {
		return fmt.Sprintf("mcpctl ended with exit code %d", out.Code)
	}
	if line.Error.Hint != "" {
		return line.Error.Message + "\nhint: " + line.Error.Hint
	}
	return line.Error.Message
}

// maxNotes bounds the notes of one result.
const maxNotes = 40

// notesOf returns what a command has noted beside its result.
func notesOf(stderr []byte) []string {
	var notes []string
	for line := range strings.Lines(string(stderr)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, `{"error":`) || len(notes) == maxNotes {
			continue
		}
		notes = append(notes, plain.Clip(plain.Line(line), maxText))
	}
	return notes
}

// cleaned returns a value of JSON whose texts have no control characters, and none that
// are invisible or reorder text: a model reads what a person does not see.
func cleaned(v any) any {
	switch v := v.(type) {
	case string:
		return plain.Text(v)
	case []any:
		for i := range v {
			v[i] = cleaned(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[plain.Line(key)] = cleaned(value)
		}
		return out
	}
	return v
}
