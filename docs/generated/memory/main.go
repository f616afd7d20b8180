// Command memory puts two people and how they know each other into the
// knowledge graph of the reference server "memory", and reads it back. The
// server keeps its graph in the file that MEMORY_FILE_PATH names.
//
//	MEMORY_FILE_PATH=/tmp/graph.jsonl go run ./docs/generated/memory npx -y @modelcontextprotocol/server-memory@2026.8.31
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mcpctl/mcpctl/generated/memory"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string, out io.Writer) error {
	if len(command) == 0 {
		return errors.New("usage: memory COMMAND ARGS… (the command that starts the server)")
	}
	conn, err := dial.Dial(ctx, config.Entry{Name: "memory", Command: command[0], Args: command[1:]}, dial.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	client := memory.New(conn)

	_, err = client.CreateEntities(ctx, memory.CreateEntitiesParams{Entities: []memory.CreateEntitiesItem{
		{Name: "Ada", EntityType: "person", Observations: []string{"writes programs"}},
		{Name: "Charles", EntityType: "person"}, // no observations: an empty list is sent, not null
	}})
	if err != nil {
		return err
	}
	_, err = client.CreateRelations(ctx, memory.CreateRelationsParams{Relations: []memory.CreateRelationsItem{
		{From: "Ada", RelationType: "corresponds with", To: "Charles"},
	}})
	if err != nil {
		return err
	}

	graph, err := client.ReadGraph(ctx)
	if err != nil {
		return err
	}
	for _, e := range graph.Entities {
		fmt.Fprintf(out, "%s (%s): %s\n", e.Name, e.EntityType, strings.Join(e.Observations, "; "))
	}
	for _, r := range graph.Relations {
		fmt.Fprintf(out, "%s %s %s\n", r.From, r.RelationType, r.To)
	}
	return nil
}
