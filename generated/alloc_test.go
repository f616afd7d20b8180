//go:build !race

package generated_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/generated/everything"
	"github.com/mcpctl/mcpctl/generated/memory"
	"github.com/mcpctl/mcpctl/runtime"
)

// answering is a connection whose server has one answer.
type answering json.RawMessage

func (a answering) Call(context.Context, *runtime.Request) (json.RawMessage, error) {
	return json.RawMessage(a), nil
}
func (answering) Notify(context.Context, *runtime.Request) error { return nil }
func (answering) Close() error                                   { return nil }

// byHand is a call as a program without a generator makes it.
func byHand[R any](ctx context.Context, c *runtime.Client, tool string, params any, result *R) error {
	args, err := json.Marshal(params)
	if err != nil {
		return err
	}
	raw, err := c.CallTool(ctx, tool, args, nil)
	if err != nil {
		return err
	}
	if raw.IsError {
		return errors.New(raw.Text())
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(raw.Structured, result)
}

// calls returns pairs of calls: of a committed client, and written by hand on the same
// client with the same answer.
func calls(tb testing.TB) map[string][2]func() {
	tb.Helper()
	ctx := tb.Context()
	check := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	conn := func(answer string) *runtime.Client {
		return runtime.NewClient(answering(answer), runtime.ClientOptions{})
	}
	echoes := conn(`{"content":[{"type":"text","text":"Echo: hi"}]}`)
	weather := conn(`{"content":[{"type":"text","text":"{}"}],"structuredContent":{"temperature":33,"conditions":"Cloudy","humidity":82}}`)
	graph := conn(`{"content":[{"type":"text","text":"{}"}],"structuredContent":{"entities":[{"name":"Ada","entityType":"person","observations":["one","two"]},{"name":"Bob","entityType":"person","observations":[]}]}}`)

	type message struct {
		Message string `json:"message"`
	}
	type place struct {
		Location string `json:"location"`
	}
	type conditions struct {
		Temperature float64 `json:"temperature"`
		Conditions  string  `json:"conditions"`
		Humidity    float64 `json:"humidity"`
	}
	type entity struct {
		Name         string   `json:"name"`
		EntityType   string   `json:"entityType"`
		Observations []string `json:"observations"`
	}
	type entities struct {
		Entities []entity `json:"entities"`
	}
	typed := memory.CreateEntitiesParams{Entities: []memory.CreateEntitiesItem{
		{Name: "Ada", EntityType: "person", Observations: []string{"one", "two"}},
		{Name: "Bob", EntityType: "person", Observations: []string{}},
	}}
	plain := entities{[]entity{{"Ada", "person", []string{"one", "two"}}, {"Bob", "person", []string{}}}}
	echo, weatherClient, graphClient := everything.New(echoes), everything.New(weather), memory.New(graph)

	return map[string][2]func(){
		"echo": {
			func() { _, err := echo.Echo(ctx, everything.EchoParams{Message: "hi"}); check(err) },
			func() { check(byHand[any](ctx, echoes, "echo", message{"hi"}, nil)) },
		},
		"get-structured-content": {
			func() {
				_, err := weatherClient.GetStructuredContent(ctx, everything.GetStructuredContentParams{Location: everything.GetStructuredContentLocationChicago})
				check(err)
			},
			func() { check(byHand(ctx, weather, "get-structured-content", place{"Chicago"}, new(conditions))) },
		},
		"create_entities": {
			func() { _, err := graphClient.CreateEntities(ctx, typed); check(err) },
			func() { check(byHand(ctx, graph, "create_entities", plain, new(entities))) },
		},
	}
}

// TestAllocGenerated: a call of a committed client costs at most 3 allocations more than one
// written by hand.
func TestAllocGenerated(t *testing.T) {
	for name, pair := range calls(t) {
		got, want := testing.AllocsPerRun(100, pair[0]), testing.AllocsPerRun(100, pair[1])
		if got > want+3 {
			t.Errorf("%s: %v allocations, %v by hand", name, got, want)
		}
	}
}

// BenchmarkGenerated measures how long both take. A generated call is to take at most 30 %
// longer.
func BenchmarkGenerated(b *testing.B) {
	for name, pair := range calls(b) {
		for i, way := range []string{"generated", "by hand"} {
			b.Run(name+"/"+way, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					pair[i]()
				}
			})
		}
	}
}
