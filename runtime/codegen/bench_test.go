package codegen_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/test/require"
)

// What is compared: a call as generated code makes it, and as one would write
// it by hand, on one client that answers at once.

type entity struct {
	Name  string                     `json:"name"`
	Type  string                     `json:"entityType"`
	Notes []string                   `json:"observations"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest"`
}

type entitiesParams struct {
	Entities []entity                   `json:"entities"`
	Extra    map[string]json.RawMessage `json:"-" mcp:"rest"`
}

func (p entitiesParams) MarshalJSON() ([]byte, error)    { return codegen.Marshal(&p) }
func (p *entitiesParams) UnmarshalJSON(b []byte) error   { return codegen.Unmarshal(b, p) }
func (p entitiesParams) ApplyTo(s *runtime.CallSettings) { s.Arguments = p }
func (p entitiesParams) Validate() error {
	for i := range p.Entities {
		if err := codegen.AtMost(int64(len(p.Entities[i].Name)), 100); err != nil {
			return codegen.At(err, "entities", i, "name")
		}
	}
	return nil
}

type entityResult struct {
	Name  string                     `json:"name"`
	Type  string                     `json:"entityType"`
	Notes []string                   `json:"observations"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest,lenient"`
}

type entitiesResult struct {
	Entities []entityResult             `json:"entities"`
	Extra    map[string]json.RawMessage `json:"-" mcp:"rest,lenient"`
	Raw      *runtime.ToolResult        `json:"-"`
}

func (r *entitiesResult) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, r) }

// generated is a method of a generated client.
func generated(ctx context.Context, c *codegen.Client, p entitiesParams, opts ...runtime.CallOption) (*entitiesResult, error) {
	var r entitiesResult
	raw, err := c.CallInto(ctx, "create_entities", p, opts, &r)
	if err != nil {
		return nil, err
	}
	r.Raw = raw
	return &r, nil
}

type plainEntity struct {
	Name  string   `json:"name"`
	Type  string   `json:"entityType"`
	Notes []string `json:"observations"`
}

type plainEntities struct {
	Entities []plainEntity `json:"entities"`
}

// byHand is the same in a program without a generator.
func byHand(ctx context.Context, c *runtime.Client, p plainEntities) (*plainEntities, error) {
	args, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	raw, err := c.CallTool(ctx, "create_entities", args, nil)
	if err != nil {
		return nil, err
	}
	if raw.IsError {
		return nil, errors.New(raw.Text())
	}
	var r plainEntities
	if err := json.Unmarshal(raw.Structured, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// answering is a transport whose server has one answer.
type answering json.RawMessage

func (a answering) Call(context.Context, *runtime.Request) (json.RawMessage, error) {
	return json.RawMessage(a), nil
}
func (answering) Notify(context.Context, *runtime.Request) error { return nil }
func (answering) Close() error                                   { return nil }

func callers() (*runtime.Client, *codegen.Client, entitiesParams, plainEntities) {
	const answer = `{"content":[{"type":"text","text":"ok"}],"structuredContent":{"entities":[{"name":"a","entityType":"t","observations":["one","two"]},{"name":"b","entityType":"t","observations":[]}]}}`
	client := runtime.NewClient(answering(answer), runtime.ClientOptions{})
	typed := entitiesParams{Entities: []entity{{Name: "a", Type: "t", Notes: []string{"one", "two"}}, {Name: "b", Type: "t", Notes: []string{}}}}
	plain := plainEntities{Entities: []plainEntity{{Name: "a", Type: "t", Notes: []string{"one", "two"}}, {Name: "b", Type: "t", Notes: []string{}}}}
	return client, codegen.NewClient(client, nil), typed, plain
}

type echoParams struct {
	Message string                     `json:"message"`
	Extra   map[string]json.RawMessage `json:"-" mcp:"rest"`
}

func (p echoParams) MarshalJSON() ([]byte, error) { return codegen.Marshal(&p) }

type plainEcho struct {
	Message string `json:"message"`
}

// calls are pairs of one call in two ways.
func calls(ctx context.Context, check func(error)) map[string][2]func() {
	client, c, typed, plain := callers()
	return map[string][2]func(){
		"lists of objects": {
			func() { _, err := generated(ctx, c, typed); check(err) },
			func() { _, err := byHand(ctx, client, plain); check(err) },
		},
		"one string": {
			func() {
				_, err := c.Call(ctx, "echo", echoParams{Message: "hello, world"}, nil)
				check(err)
			},
			func() {
				args, err := json.Marshal(plainEcho{Message: "hello, world"})
				check(err)
				r, err := client.CallTool(ctx, "echo", args, nil)
				check(err)
				if r.IsError {
					check(errors.New(r.Text()))
				}
			},
		},
		"a timeout": {
			func() {
				_, err := c.Call(ctx, "echo", echoParams{Message: "hello, world"}, []runtime.CallOption{runtime.WithTimeout(time.Minute)})
				check(err)
			},
			func() {
				args, err := json.Marshal(plainEcho{Message: "hello, world"})
				check(err)
				r, err := client.CallTool(ctx, "echo", args, &runtime.CallOptions{Timeout: time.Minute})
				check(err)
				if r.IsError {
					check(errors.New(r.Text()))
				}
			},
		},
	}
}

func BenchmarkCall(b *testing.B) {
	for name, pair := range calls(b.Context(), func(err error) {
		require.NoError(b, err)
	}) {
		for i, how := range []string{"generated", "by hand"} {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					pair[i]()
				}
			})
		}
	}
}
