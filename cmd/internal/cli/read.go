package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// readCommand is one run of mcpctl read.
type readCommand struct {
	*session
	output string // -O
}

func newRead(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "read SERVER URI",
		Short: "Print a resource",
		Long: `Print a resource: text as text, a note instead of bytes. -O writes the contents themselves, text or bytes, to a file;
to several files in a directory that exists; to standard output as -.`,
		Example: "  mcpctl read docs demo://resource/1\n  mcpctl read docs demo://logo -O logo.png",
	}
	cmd.Flags().StringVarP(&output, "output-file", "O", "", "write the contents to `FILE`")
	return a.onServer(cmd, 2, 2, func(ctx context.Context, s *session, words []string) error {
		return (&readCommand{s, output}).run(ctx, words[0])
	})
}

func (c *readCommand) run(ctx context.Context, uri string) error {
	params, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return err
	}
	raw, err := c.watched(ctx, revision.MethodResourcesRead, params)
	if err != nil {
		return c.noResource(ctx, uri, err)
	}
	var res runtime.ResourceResult
	if c.output == "" && c.a.ui.WantJSON() {
		return c.a.ui.PrintJSON(raw)
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return &runtime.ProtocolError{Reason: "resources/read: the result is not one: " + err.Error()}
	}
	if c.output != "" {
		return c.writeContents(res.Contents, raw)
	}
	if len(res.Contents) == 0 {
		c.a.ui.Info("the resource is empty")
	}
	for i := range res.Contents {
		if _, err := c.a.ui.Resource(&res.Contents[i], nil, len(res.Contents) > 1); err != nil {
			return err
		}
	}
	return nil
}

// writeContents implements -O. With --json the result still goes to standard output.
func (c *readCommand) writeContents(contents []runtime.ResourceContents, raw json.RawMessage) error {
	bytes := func(c *runtime.ResourceContents) []byte {
		if c.Blob != nil {
			return c.Blob
		}
		return []byte(c.Text)
	}
	info, err := os.Stat(c.output)
	isDir := err == nil && info.IsDir()
	if !isDir && len(contents) != 1 {
		return (&Error{Err: errors.New("the resource has not exactly one content")}).withHint("-O with a directory that exists saves each in a separate file")
	}
	for i := range contents {
		content := &contents[i]
		switch {
		case c.output == "-":
			_, err := c.a.ui.Out.Write(bytes(content))
			return err
		case isDir:
			path, err := (&ui.Saver{Dir: c.output}).Save(bytes(content), content.MIMEType)
			if err != nil {
				return err
			}
			c.a.ui.Info("%s saved as %s", content.URI, path)
		default:
			if err := ui.WriteFile(c.output, bytes(content)); err != nil {
				return err
			}
			c.a.ui.Info("wrote %s, %s", c.output, ui.Size(len(bytes(content))))
		}
	}
	if c.a.ui.JSON {
		return c.a.ui.PrintJSON(raw)
	}
	return nil
}

// noResource returns an error for a resource that does not exist (-32602 in
// 2026-07-28, -32002 before), otherwise err.
func (c *readCommand) noResource(ctx context.Context, uri string, err error) error {
	var rpc *runtime.Error
	if !errors.As(err, &rpc) {
		return err
	}
	if rpc.Code == runtime.CodeMethodNotFound {
		return c.explain(err, "resources")
	}
	var known []string
	if _, items, lerr := c.list(ctx, revision.MethodResourcesList, "resources"); lerr == nil {
		for _, r := range c.decodeResources(items) {
			if r.URI == uri {
				return err // it exists
			}
			known = append(known, r.URI)
		}
	}
	hint := unknownName("", uri, known, c.command("resources")).Remedy
	if rpc.Code == runtime.CodeResourceNotFound || rpc.Code == runtime.CodeInvalidParams {
		return &Error{Code: exitUsage, Remedy: hint, Err: errors.New(ui.CleanLine(c.server) + " has no resource " + uri + ": " + err.Error())}
	}
	return &Error{Err: err, Remedy: hint}
}
