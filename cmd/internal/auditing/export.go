package auditing

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/export"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// ExportOptions are the flags of audit export: one form, the number of the first record, and
// the file, "" for standard output.
type ExportOptions struct {
	JSONL, OTLP, CSV bool
	Since            int64
	File             string
	// Version is that of this program.
	Version string
}

// Export writes the records out that the log has now.
func (p *Command) Export(ctx context.Context, o ExportOptions) error {
	if n := count(o.JSONL, o.OTLP, o.CSV); n != 1 {
		return ui.Usage("choose one of --jsonl, --otlp and --csv")
	}
	if o.Since < 0 {
		return ui.Usage("--since %d is less than 0", o.Since)
	}
	l, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // nothing is written
	last, err := l.LastCheckpoint(ctx)
	if err != nil {
		return p.explain(err)
	}
	checkpoint, err := merkle.Unsigned(last)
	if err != nil {
		return ui.Usage("the log has no checkpoint yet, which says whose it is").WithHint("try again in a minute")
	}
	next, err := o.write(ctx, l, checkpoint.Origin, p.UI.Out)
	if err != nil {
		return p.explain(err)
	}
	if o.File == "" {
		p.UI.Info("note: to continue, --since %d", next)
	}
	return nil
}

func count(flags ...bool) (n int) {
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

// write writes the records into the file, or to out.
func (o *ExportOptions) write(ctx context.Context, l *logfile.Log, origin string, out io.Writer) (next int64, err error) {
	if o.JSONL && o.File != "" {
		return export.WriteFile(ctx, l, origin, o.File, o.Since)
	}
	from := o.Since
	head := true
	if o.File != "" {
		file, found, at, openErr := o.continued()
		if openErr != nil {
			return 0, openErr
		}
		defer func() { err = cmp.Or(err, file.Close()) }()
		out = file
		if found {
			from, head = at, false
		}
	}
	switch {
	case o.JSONL:
		return export.WriteLines(ctx, l, origin, from, out)
	case o.OTLP:
		return export.WriteOTLP(ctx, l, from, out, o.Version)
	}
	return writeCSV(ctx, l, from, out, head)
}

// continued opens the file of an export to append to it: found says that it has records, of
// which next is the number behind the last. A line that was not written whole is cut off; a
// file that is no such export stays as it is.
func (o *ExportOptions) continued() (file *os.File, found bool, next int64, err error) {
	file, err = os.OpenFile(o.File, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, 0, ui.Usage("%w", err)
	}
	defer func() {
		if err != nil {
			_ = file.Close() // nothing was written
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, false, 0, err
	}
	if !info.Mode().IsRegular() {
		return file, false, 0, nil
	}
	head := make([]byte, len(o.start()))
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, 0, err
	}
	if ours := string(head[:n]) == o.start()[:n]; !ours {
		return nil, false, 0, o.foreign()
	}
	_, err = export.Resume(file, func(raw []byte, all bool) (used int, ok bool, err error) {
		used = bytes.LastIndexByte(raw, '\n') + 1
		last := raw[bytes.LastIndexByte(raw[:max(used-1, 0)], '\n')+1 : used]
		if n, ok := o.lastNumber(string(last)); ok {
			found, next = true, n+1
			return used, true, nil
		}
		// Without a record there is a part of the first line, or the head of a table: it is
		// written again.
		head := o.CSV && bytes.HasPrefix(last, []byte(o.start()))
		return 0, all && (used == 0 || head), nil
	})
	if errors.Is(err, export.ErrForeign) {
		return nil, false, 0, o.foreign()
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekEnd)
	}
	return file, found, next, err
}

func (o *ExportOptions) foreign() error {
	return ui.Usage("%s is %w", o.File, export.ErrForeign).WithHint("choose another file")
}

// start is how every file of the form begins.
func (o *ExportOptions) start() string {
	if o.OTLP {
		return `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"mcpctl"}}`
	}
	return strings.Join(csvHead(), ",")
}

// numberRE finds the number of a record in a request.
var numberRE = lazy.Regexp(`"mcpctl\.audit\.number","value":\{"intValue":"(\d+)"`)

// lastNumber returns the number of the last record in a line.
func (o *ExportOptions) lastNumber(line string) (n int64, ok bool) {
	text, _, _ := strings.Cut(line, ",")
	if o.OTLP {
		all := numberRE().FindAllStringSubmatch(line, -1)
		if all == nil {
			return 0, false
		}
		text = all[len(all)-1][1]
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func csvHead() []string {
	return []string{
		"number", "record", "time", "kind", "of", "who", "name", "groups", "client", "via", "ip", "flow", "server", "item", "revision", "arguments", "size", "definition",
		"verdict", "by", "would", "scopes", "policies", "seen", "found", "ms", "outcome", "result_size", "result", "trace", "text", "count",
	}
}

// writeCSV writes records as a table, a line each.
func writeCSV(ctx context.Context, l *logfile.Log, from int64, out io.Writer, head bool) (next int64, err error) {
	w := csv.NewWriter(out)
	if head {
		if err := w.Write(csvHead()); err != nil {
			return from, err
		}
	}
	next = from
	err = l.Read(ctx, from, 0, func(n int64, raw []byte) error {
		e, err := parse(n, raw)
		if err != nil {
			return err
		}
		next = n + 1
		return w.Write(e.cells())
	})
	w.Flush()
	return next, cmp.Or(err, w.Error())
}

// cells are the values of a line, without what would change a terminal. Line ends in them
// are written as \n, so that a line is one; what a spreadsheet would take for a formula gets
// an apostrophe.
func (e *Entry) cells() []string {
	r := &e.Record
	list := func(texts []string) string { return strings.Join(texts, " ") }
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	of, addr := "", ""
	if r.Of != 0 {
		of = fmt.Sprintf("%s-%d", r.Run, r.Of)
	}
	if r.Principal.Addr.IsValid() {
		addr = r.Principal.Addr.String()
	}
	all := []string{
		strconv.FormatInt(e.Number, 10), e.Ref(), audit.StampOf(r.Time), string(r.Kind), of, r.Principal.ID, r.Principal.Name, list(r.Principal.Groups), r.Principal.Client, r.Principal.Via, addr, r.Principal.Flow,
		r.Target.Server, r.Target.Item, r.Target.Era, r.Arguments.Digest, number(r.Arguments.Size), r.Target.Definition,
		r.Decision.Verdict, list(r.Decision.By), list(r.Decision.Would), list(r.Decision.Scopes), r.Decision.Generation, list(r.Decision.Seen), list(r.Decision.Found),
		number(r.Outcome.Took.Milliseconds()), r.Outcome.Out, number(r.Outcome.ResultSize), r.Outcome.ResultDigest, r.Target.Trace, r.Text, number(r.Count),
	}
	for i, text := range all {
		text = plain.Text(strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\r`).Replace(text))
		if text != "" && strings.ContainsRune("=+-@\t", rune(text[0])) {
			text = "'" + text
		}
		all[i] = text
	}
	return all
}
