// Command everything asks the reference server "everything" for a sum, the
// weather and a slow operation, through the generated client.
//
//	go run ./docs/generated/everything npx -y @modelcontextprotocol/server-everything@2026.8.31 stdio
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/mcpctl/mcpctl/generated/everything"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "everything:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string, out io.Writer) error {
	if len(command) == 0 {
		return fmt.Errorf("usage: everything COMMAND ARGS… (the command that starts the server)")
	}
	conn, err := dial.Dial(ctx, config.Entry{Name: "everything", Command: command[0], Args: command[1:]}, dial.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	client := everything.New(conn)

	sum, err := client.GetSum(ctx, everything.GetSumParams{A: 2, B: 40})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, sum.Text())

	// Structured content arrives typed, by the tool's output schema.
	for _, city := range everything.GetStructuredContentLocation("").Values() {
		w, err := client.GetStructuredContent(ctx, everything.GetStructuredContentParams{Location: city})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %g °C, %s, humidity %g %%\n", city, w.Temperature, w.Conditions, w.Humidity)
	}

	// Optional parameters are pointers: nil leaves them to the server.
	long := everything.TriggerLongRunningOperationParams{Duration: new(0.4), Steps: new(4.0)}
	done, err := client.TriggerLongRunningOperation(ctx, long, runtime.WithProgress(func(p runtime.Progress) {
		fmt.Fprintf(out, "step %g\n", p.Progress)
	}))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, done.Text())
	return nil
}
