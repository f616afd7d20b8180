package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

func newRead(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "read SERVER URI",
		Short: "Print a resource",
		Long: `Print a resource: text as text, a note in place of bytes. -O writes the contents themselves, text or bytes, to a file;
to several files in a directory that exists; to standard output as -.`,
		Example: "  mcpctl read docs demo://resource/1\n  mcpctl read docs demo://logo -O logo.png",
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := a.words(words, 2, 2, "read SERVER URI"); err != nil {
				return err
			}
			return a.with(cmd.Context(), words, func(s *session, words []string) error {
				return s.read(cmd.Context(), words[0], output)
			})
		},
	}
	cmd.Flags().StringVarP(&output, "output-file", "O", "", "write the contents to `FILE`")
	a.completeServer(cmd)
	return cmd
}

func (s *session) read(ctx context.Context, uri, output string) error {
	params, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return err
	}
	raw, err := s.watched(ctx, revision.MethodResourcesRead, params)
	if err != nil {
		return s.noResource(ctx, uri, err)
	}
	var res runtime.ResourceResult
	if output == "" && s.a.ui.WantJSON() {
		return s.a.ui.PrintJSON(raw)
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return &runtime.ProtocolError{Reason: "resources/read: the result is not one: " + err.Error()}
	}
	if output != "" {
		return s.writeContents(res.Contents, raw, output)
	}
	if len(res.Contents) == 0 {
		s.a.ui.Note("the resource is empty")
	}
	for i := range res.Contents {
		if _, err := s.a.ui.Resource(&res.Contents[i], nil, len(res.Contents) > 1); err != nil {
			return err
		}
	}
	return nil
}

// writeContents implements -O. With --json the result still goes to standard output.
func (s *session) writeContents(contents []runtime.ResourceContents, raw json.RawMessage, output string) error {
	bytes := func(c *runtime.ResourceContents) []byte {
		if c.Blob != nil {
			return c.Blob
		}
		return []byte(c.Text)
	}
	info, err := os.Stat(output)
	isDir := err == nil && info.IsDir()
	if !isDir && len(contents) != 1 {
		return (&Error{Err: errors.New("the resource has not exactly one content")}).withHint("-O with a directory that exists saves each in a file of its own")
	}
	for i := range contents {
		c := &contents[i]
		switch {
		case output == "-":
			_, err := s.a.ui.Out.Write(bytes(c))
			return err
		case isDir:
			path, err := (&ui.Saver{Dir: output}).Save(bytes(c), c.MIMEType)
			if err != nil {
				return err
			}
			s.a.ui.Note("%s saved as %s", c.URI, path)
		default:
			if err := ui.WriteFile(output, bytes(c)); err != nil {
				return err
			}
			s.a.ui.Note("wrote %s, %s", output, ui.Size(len(bytes(c))))
		}
	}
	if s.a.ui.JSON {
		return s.a.ui.PrintJSON(raw)
	}
	return nil
}

// noResource returns an error for a resource that does not exist (-32602 in
// 2026-07-28, -32002 before), otherwise err.
func (s *session) noResource(ctx context.Context, uri string, err error) error {
	var rpc *runtime.Error
	if !errors.As(err, &rpc) {
		return err
	}
	if rpc.Code == runtime.CodeMethodNotFound {
		return s.explain(err, "resources")
	}
	var known []string
	if _, items, lerr := s.list(ctx, revision.MethodResourcesList, "resources"); lerr == nil {
		for _, r := range s.decodeResources(items) {
			if r.URI == uri {
				return err // it exists
			}
			known = append(known, r.URI)
		}
	}
	hint := unknownName("", uri, known, s.command("resources")).Remedy
	if rpc.Code == runtime.CodeResourceNotFound || rpc.Code == runtime.CodeInvalidParams {
		return &Error{Code: exitUsage, Remedy: hint, Err: errors.New(ui.CleanLine(s.server) + " has no resource " + uri + ": " + err.Error())}
	}
	return &Error{Err: err, Remedy: hint}
}
