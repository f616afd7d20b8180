// Command filesystem writes a file through the reference server "filesystem",
// edits it, reads it back and shows what the server does with a path it does
// not allow. It works in the folder given first, which the server must allow.
//
//	go run ./docs/generated/filesystem /tmp/notes npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp/notes
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mcpctl/mcpctl/generated/filesystem"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "filesystem:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("usage: filesystem DIR COMMAND ARGS… (the command that starts the server, DIR among what it allows)")
	}
	conn, err := dial.Dial(ctx, config.Entry{Name: "filesystem", Command: args[1], Args: args[2:]}, dial.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	client := filesystem.New(conn)

	path := filepath.Join(args[0], "hello.txt")
	if _, err := client.WriteFile(ctx, filesystem.WriteFileParams{Path: path, Content: "hello from mcpctl\nsecond line\n"}); err != nil {
		return err
	}
	edit, err := client.EditFile(ctx, filesystem.EditFileParams{
		Path:  path,
		Edits: []filesystem.EditFileEditsItem{{OldText: "mcpctl", NewText: "a generated client"}},
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, edit.Content)

	first, err := client.ReadTextFile(ctx, filesystem.ReadTextFileParams{Path: path, Head: new(1.0)})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "first line:", first.Content)

	// What the tool itself refuses is a *runtime.ToolError.
	_, err = client.ReadTextFile(ctx, filesystem.ReadTextFileParams{Path: filepath.Join(args[0], "..", "outside.txt")})
	var refused *runtime.ToolError
	if !errors.As(err, &refused) {
		return fmt.Errorf("a path outside was not refused: %w", err)
	}
	fmt.Fprintln(out, "outside:", refused.Result.IsError)
	return nil
}
