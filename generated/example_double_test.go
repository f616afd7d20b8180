package generated_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/mcpctl/mcpctl/generated/memory"
	"github.com/mcpctl/mcpctl/generated/memory/memorytest"
	"github.com/mcpctl/mcpctl/runtime/codegen/double"
	"github.com/mcpctl/mcpctl/runtime/fixture"
)

// names is what the tests below are of: code that uses a client.
func names(ctx context.Context, client *memory.Client, query string) ([]string, error) {
	found, err := client.SearchNodes(ctx, memory.SearchNodesParams{Query: query})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range found.Entities {
		out = append(out, e.Name)
	}
	return out, nil
}

// A double answers by functions that have the client's types.
func TestNames(t *testing.T) {
	fake := memorytest.NewFake(t)
	fake.OnSearchNodes(func(_ context.Context, p memory.SearchNodesParams) (*memory.SearchNodesResult, error) {
		if p.Query == "" {
			return nil, double.Failure("what for?")
		}
		return &memory.SearchNodesResult{Entities: []memory.SearchNodesResultEntitiesItem{{Name: "Ada", EntityType: "person"}}}, nil
	})

	got, err := names(t.Context(), fake.Client(), "A")
	if err != nil || len(got) != 1 || got[0] != "Ada" {
		t.Errorf("got %v, %v", got, err)
	}
	if calls := fake.Calls().SearchNodes(); len(calls) != 1 || calls[0].Query != "A" {
		t.Errorf("calls: %v", calls)
	}
	if _, err := names(t.Context(), fake.Client(), ""); err == nil {
		t.Error("the tool's own failure got lost")
	}
}

// What was recorded once answers from then on.
func TestNamesReplayed(t *testing.T) {
	dir := t.TempDir()
	fake := memorytest.NewFake(t)
	fake.OnReadGraph(func(context.Context) (*memory.ReadGraphResult, error) {
		return &memory.ReadGraphResult{}, nil
	})
	conn := fake.Caller()

	recorder := fixture.Record(conn, dir)
	recorder.Hide("s3cret", "${TOKEN}")
	if _, err := memory.New(recorder).ReadGraph(t.Context()); err != nil {
		t.Fatal(err)
	}

	files := fstest.MapFS{}
	for _, x := range recorder.Exchanges() {
		data, err := x.Encode()
		if err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("%d.json", len(files))] = &fstest.MapFile{Data: data}
	}
	replayed := memorytest.NewFake(t)
	replayed.Replay(files)
	if _, err := replayed.Client().ReadGraph(t.Context()); err != nil {
		t.Error(err)
	}
}
