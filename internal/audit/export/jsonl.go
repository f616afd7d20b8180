package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// Mark is a line of a file that is no record: the first line, and checkpoints. The lines
// behind it that are records have the numbers from Next on.
type Mark struct {
	// Log is the origin of the log, in the first line and where records are missing.
	Log string `json:"log,omitempty"`
	// Checkpoint is a signed checkpoint, a text of several lines.
	Checkpoint string `json:"checkpoint,omitempty"`
	Next       int64  `json:"next"`
	// Edge are the hashes of the tree before Next, the largest subtree first: with them the
	// checkpoints can be compared of a file that begins after record 0.
	Edge []tlog.Hash `json:"edge,omitempty"`
}

// How lines of marks begin. A record begins with its version.
const (
	logLine        = `{"log":`
	checkpointLine = `{"checkpoint":`
	recordLine     = `{"v":`
)

// Append adds the mark as a line.
func (m Mark) Append(dst []byte) []byte {
	raw, err := json.Marshal(m)
	if err != nil {
		return dst // a struct of texts and a number
	}
	return append(append(dst, raw...), '\n')
}

// start is how the line of a mark begins, up to the end of the log's name.
func (m Mark) start() string {
	name, _ := json.Marshal(m.Log) // a text
	return logLine + string(name)
}

// begins reports whether raw is a part of one line that begins with start, or a part of
// start.
func begins(raw []byte, start string) bool {
	n := min(len(raw), len(start))
	return string(raw[:n]) == start[:n] && bytes.IndexByte(raw, '\n') < 0
}

// ParseMark reads a line, without its end. It reports whether it is a mark.
func ParseMark(line []byte) (m Mark, ok bool) {
	if !bytes.HasPrefix(line, []byte(logLine)) && !bytes.HasPrefix(line, []byte(checkpointLine)) {
		return m, false
	}
	return m, json.Unmarshal(line, &m) == nil && m.Next >= 0
}

// origin returns whose log a mark is of.
func (m Mark) origin() string {
	if m.Log != "" {
		return m.Log
	}
	first, _, _ := strings.Cut(m.Checkpoint, "\n")
	return first
}

// lines writes records into a file, one a line, each as its bytes are in the log. What the
// file has says where to go on, so that a process which is killed leaves neither a gap nor
// a double.
type lines struct {
	File
	log    Log
	origin string
	sent   *state

	known bool         // what follows is as it is in the file
	size  int64        // of the file
	at    position     // what it has
	next  atomic.Int64 // the same, for status
}

func newLines(f File, o Options, sent *state) *lines {
	l := &lines{File: f, log: o.Log, origin: o.Origin, sent: sent}
	l.next.Store(sent.get(l.key()).Next)
	return l
}

func (l *lines) status() Status { return Status{Kind: "jsonl", Target: l.Path, Next: l.next.Load()} }

func (l *lines) key() string { return "jsonl " + l.Path }

func (l *lines) pass(ctx context.Context) error {
	for {
		if err := l.check(); err != nil {
			return err
		}
		b, err := read(ctx, l.log, l.at.Next, l.at.Checkpoint)
		if err != nil {
			return err
		}
		if len(b.records)+len(b.checkpoints) == 0 {
			return nil
		}
		if err := l.write(ctx, b); err != nil {
			l.known = false
			return err
		}
		if l.Rotate > 0 && l.size >= l.Rotate {
			if err := l.setAside(); err != nil {
				return err
			}
		}
		if !b.more {
			return nil
		}
	}
}

// check finds out what the file has, unless it is as it was left.
func (l *lines) check() error {
	info, err := os.Stat(l.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case missing:
		if !l.known { // it was set aside, by us or by others
			l.at = l.sent.get(l.key())
		}
		l.size = 0
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", l.Path)
	case l.known && info.Size() == l.size:
		return nil
	default:
		if err := l.recover(); err != nil {
			return err
		}
	}
	l.known = true
	l.next.Store(l.at.Next)
	return nil
}

// recover reads the end of the file: what it has, without a line that was not written whole,
// which is cut off.
func (l *lines) recover() error {
	f, err := os.OpenFile(l.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing is buffered
	l.size, err = Resume(f, func(raw []byte, all bool) (used int, ok bool, err error) {
		at, used, origin := ends(raw)
		switch {
		case origin == l.origin:
			l.at = at
			return used, true, nil
		case origin != "":
			return 0, false, fmt.Errorf("%s has the records of another log: %s", l.Path, origin)
		case all && begins(raw, Mark{Log: l.origin}.start()): // the first line, not whole
			l.at = l.sent.get(l.key())
			return 0, true, nil
		}
		return 0, false, nil
	})
	if errors.Is(err, ErrForeign) {
		return fmt.Errorf("%s is %w: choose another path, or move it away", l.Path, err)
	}
	return err
}

// ends returns what the last lines of a file say: what it has, how many bytes of the lines
// count, and whose log it is; "" without a mark.
func ends(raw []byte) (at position, used int, origin string) {
	for rest := raw; ; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		m, marked := ParseMark(line)
		switch {
		case !whole:
			return at, used, origin
		case marked:
			at.Next, origin = m.Next, m.origin()
			if c, err := merkle.Unsigned([]byte(m.Checkpoint)); err == nil {
				at.Checkpoint = c.Size
			}
		case !bytes.HasPrefix(line, []byte(recordLine)) || !bytes.HasSuffix(line, []byte("}")):
			return at, used, origin // what a loss of power leaves
		default:
			at.Next++
		}
		used += len(line) + 1
		rest = after
	}
}

// write appends a batch, in one write.
func (l *lines) write(ctx context.Context, b *batch) (err error) {
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.Path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, at := b.lines(ctx, l.log, l.origin, l.at, l.size == 0)
	if _, err := f.Write(text); err != nil {
		_ = f.Truncate(l.size) // a part of it: recover cuts it off, too
		return err
	}
	l.size += int64(len(text))
	l.at = at
	l.next.Store(at.Next)
	if len(b.checkpoints) == 0 {
		return nil
	}
	return l.sent.set(l.key(), at) // for a file that is moved away
}

// lines returns a batch as the lines of a file that has what at says, and what it has then.
// A first line says whose log it is, where the file is empty or records are missing.
func (b *batch) lines(ctx context.Context, of Log, origin string, at position, empty bool) ([]byte, position) {
	var text []byte
	if empty || len(b.records) > 0 && b.first != at.Next {
		m := Mark{Log: origin, Next: b.first}
		if edge, err := merkle.EdgeAt(b.first, of.Tiles(ctx)); err == nil { // else verify says what it cannot compare
			m.Edge = edge.Hashes()
		}
		text = m.Append(text)
	}
	for _, r := range b.records {
		text = append(append(text, r...), '\n')
	}
	at = b.after(at)
	for _, c := range b.checkpoints {
		text = Mark{Checkpoint: string(c.note), Next: at.Next}.Append(text)
	}
	return text, at
}

// setAside renames the file: it is as large as it may become. Its new name has the number
// of the record behind its last, so that names sort as the records do.
func (l *lines) setAside() error {
	f, err := os.OpenFile(l.Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := l.sent.set(l.key(), l.at); err != nil {
		return err
	}
	if err := os.Rename(l.Path, fmt.Sprintf("%s.%012d", l.Path, l.at.Next)); err != nil {
		return err
	}
	l.size = 0
	return nil
}
