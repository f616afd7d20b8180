//go:build !race

package generated_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

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

// TestAllocGenerated: a call of a committed client costs at most 3 allocations
// and 30 % of the time more than one written by hand, on the same client and
// with the same answer. Of the time, the best of many short rounds counts.
func TestAllocGenerated(t *testing.T) {
	const moreAllocs, moreTime, rounds, batch = 3, 1.3, 100, 50
	ctx := t.Context()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
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

	for name, pair := range map[string][2]func(){
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
	} {
		got, want := testing.AllocsPerRun(100, pair[0]), testing.AllocsPerRun(100, pair[1])
		if got > want+moreAllocs {
			t.Errorf("%s: %v allocations, %v by hand", name, got, want)
		}
		best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
		for range rounds {
			for i, call := range pair {
				start := time.Now()
				for range batch {
					call()
				}
				best[i] = min(best[i], time.Since(start))
			}
		}
		ratio := float64(best[0]) / float64(best[1])
		if ratio > moreTime {
			t.Errorf("%s: takes %.2f times as long as by hand", name, ratio)
		}
		t.Logf("%s: %v allocations, %v by hand; %.2f times as long", name, got, want, ratio)
	}
}
