package cli

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// askTime bounds the question of a completion to a server, connecting included: the
// person waits with a finger on the key.
const askTime = 300 * time.Millisecond

// values asks the server how the value of an argument could go on (specification,
// Completion). Only a remote server is asked: the start of a command takes longer than
// askTime, and a key must not start one. Failures are no values: a shell cannot show them.
func (o *offer) values(ref map[string]string, name, begun string, given map[string]string) []string {
	switch o.entry.Transport() {
	case config.TransportHTTP, config.TransportSSE:
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(o.cmd.Context(), askTime)
	defer cancel()
	options := o.a.dialOptions(o.entry)
	options.ConnectTimeout, options.Timeout, options.ShutdownTimeout = askTime, askTime, askTime
	if options.Auth != nil { // nobody logs in here
		options.Auth.Prompter, options.Auth.StoredOnly = nil, true
	}
	c, err := o.a.reach(ctx, o.entry, options, func(ctx context.Context, options dial.Options) (*runtime.Client, error) {
		return dial.Dial(ctx, o.entry, options)
	})
	if err != nil {
		return nil
	}
	defer endBy(ctx, c)
	if !c.Info().Has("completions") {
		return nil
	}
	params, err := json.Marshal(map[string]any{
		"ref": ref, "argument": map[string]string{"name": name, "value": begun}, "context": map[string]any{"arguments": given},
	})
	if err != nil {
		return nil
	}
	var answer struct {
		Completion struct{ Values []string }
	}
	raw, err := c.Call(ctx, revision.MethodComplete, params, nil)
	if err != nil || json.Unmarshal(raw, &answer) != nil {
		return nil
	}
	return answer.Completion.Values
}

// endBy closes a connection. What is not closed when ctx ends goes on until the program
// ends, which is next.
func endBy(ctx context.Context, c io.Closer) {
	closed := make(chan struct{})
	go func() {
		_ = c.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-ctx.Done():
	}
}
