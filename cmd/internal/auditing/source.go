package auditing

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit/export"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
)

// Log is the source of records that is the log itself; others are files of lines, or - for
// standard input.
const Log = "log"

// maxLine is the greatest length of a line of a file. A record is shorter.
const maxLine = 1 << 20

// Each calls each with the entries of a source that are meant, in their order.
func (p *Command) Each(ctx context.Context, source string, q Query, each func(*Entry) error) error {
	f, err := q.filter(p.now())
	if err != nil {
		return err
	}
	if source != Log {
		return lines(source, p.UI.In, f, each)
	}
	l, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // nothing is written
	size, err := l.Size(ctx)
	if err == nil {
		err = read(ctx, l, f, size, func(e *Entry) error {
			e.log = l
			return each(e)
		})
	}
	return p.explain(err)
}

// lines reads a file of lines, as exports are: records, and marks between them, which say
// what number follows.
func lines(path string, stdin io.Reader, f *filter, each func(*Entry) error) error {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return ui.Usage("%w", err)
		}
		defer func() { _ = file.Close() }() // nothing is written
		in = file
	}
	lines := bufio.NewReaderSize(in, maxLine)
	next := int64(-1)
	for at := 1; ; at++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return ui.Usage("%s:%d: the line is too long for a record", path, at)
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if m, ok := export.ParseMark(line); ok {
			next = m.Next
			continue
		}
		if err := f.try(next, line, each); err != nil {
			if _, parsed := errors.AsType[*ui.Error](err); parsed {
				return ui.Usage("%s:%d: the line is not a record", path, at).WithHint("mcpctl audit export --jsonl writes such files")
			}
			return err
		}
		if next >= 0 {
			next++
		}
	}
}

// Arguments returns the arguments of a call, nil if they are not kept, or not as they were
// sent: without a part, or without secrets.
func (p *Command) Arguments(ctx context.Context, e *Entry) []byte {
	switch {
	case e.Arguments.Digest == "":
		return []byte("{}")
	case e.Number < 0:
		return nil
	}
	l := e.log
	if l == nil {
		var err error
		if l, err = p.open(ctx); err != nil {
			return nil
		}
		defer func() { _ = l.Close() }() // nothing is written
	}
	body, err := l.Body(ctx, e.Number, false)
	if err != nil || body == nil || body.Cut {
		return nil
	}
	key, err := p.key()
	if err != nil || key.Digest(body.Data) != e.Arguments.Digest {
		return nil
	}
	return body.Data
}

// key reads the key file of the log, which must be there.
func (p *Command) key() (*logfile.Key, error) {
	if _, err := os.Stat(p.keyPath()); err != nil {
		return nil, p.explain(&logfile.Error{Path: p.path(), Err: err})
	}
	k, err := logfile.OpenKey(p.keyPath())
	if err != nil {
		return nil, &ui.Error{Kind: "config", Err: err}
	}
	return k, nil
}

// Key prints the public key of the log, as a verifier key of a signed note; all with those
// that have signed before, the newest first.
func (p *Command) Key(all bool) error {
	k, err := p.key()
	if err != nil {
		return err
	}
	keys := k.Verifiers()
	if p.UI.JSON {
		return p.UI.EncodeJSON(struct {
			Key    string   `json:"key"`
			Former []string `json:"former,omitempty"`
		}{keys[0], keys[1:]})
	}
	if !all {
		keys = keys[:1]
	}
	for _, key := range keys {
		if _, err := fmt.Fprintln(p.UI.Out, key); err != nil {
			return err
		}
	}
	return nil
}

// Digest prints the digest that a record would have of the bytes of a file, - for standard
// input.
func (p *Command) Digest(path string) error {
	k, err := p.key()
	if err != nil {
		return err
	}
	raw, err := readAll(path, p.UI.In)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.UI.Out, k.Digest(raw))
	return err
}

// readAll reads a file, - for standard input.
func readAll(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, ui.Usage("%w", err)
	}
	return raw, nil
}
