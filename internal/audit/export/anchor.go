package export

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// anchorFile appends each checkpoint to a file, with an empty line behind it.
type anchorFile struct {
	path   string
	log    Log
	origin string
	sent   *state
	at     atomic.Int64
}

func (a *anchorFile) key() string { return "file " + a.path }

func (a *anchorFile) status() Status { return Status{Kind: "file", Target: a.path, Next: a.at.Load()} }

func (a *anchorFile) pass(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(a.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|atomicfile.NoWait, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := a.resume(f)
	if err != nil {
		return err
	}
	a.at.Store(size)
	var text []byte
	err = a.log.Checkpoints(ctx, size, func(n int64, note []byte) error {
		text, size = append(append(text, note...), '\n'), n
		return nil
	})
	if err != nil || len(text) == 0 {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync()); err != nil {
		return err
	}
	a.at.Store(size)
	return a.sent.set(a.key(), position{Checkpoint: size})
}

// resume returns the size of the last checkpoint that the file has. One that was not written
// whole is cut off.
func (a *anchorFile) resume(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err == nil {
		err = atomicfile.Regular(a.path, info)
	}
	if err != nil {
		return 0, err
	}
	_, err = Resume(f, func(raw []byte, all bool) (used int, ok bool, err error) {
		c, used := lastCheckpoint(raw)
		switch start := a.origin + "\n"; {
		case used > 0 && c.Origin != a.origin:
			return 0, false, fmt.Errorf("%s has the checkpoints of another log: %s", a.path, c.Origin)
		case used > 0:
			size = c.Size
		case !all || !bytes.HasPrefix(raw, []byte(start)) && !strings.HasPrefix(start, string(raw)):
			return 0, false, nil
		}
		return used, true, nil
	})
	if errors.Is(err, ErrForeign) {
		return 0, fmt.Errorf("%s has something else than checkpoints: choose another path, or move it away", a.path)
	}
	return size, err
}

// lastCheckpoint returns the last checkpoint that is whole, and where it ends; 0 for none.
func lastCheckpoint(raw []byte) (c merkle.Checkpoint, end int) {
	var blank [3]int // behind the last three empty lines that are before what is looked at
	for i := len(raw); i > 0; {
		i = bytes.LastIndex(raw[:i], []byte("\n\n")) + 1
		blank = [...]int{i + 1, blank[0], blank[1]}
		if i == 0 {
			blank[0] = 0
		}
		if blank[2] == 0 {
			continue
		}
		if c, err := merkle.Unsigned(raw[blank[0] : blank[2]-1]); err == nil {
			return c, blank[2]
		}
	}
	return c, 0
}

// witness has a witness sign the newest checkpoint (C2SP tlog-witness). What it has signed
// is kept in a file beside the log.
type witness struct {
	url         string
	log         Log
	sent        *state
	client      *retryablehttp.Client
	checkpoints string // the file
	at          atomic.Int64
}

func newWitness(address string, o Options, sent *state) *witness {
	w := &witness{url: address, log: o.Log, sent: sent}
	w.client = newClient(o, func(status int) bool {
		return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
	})
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(address[strings.Index(address, "://")+len("://"):]))
	w.checkpoints = filepath.Join(o.Dir, "audit-witness-"+name+".txt")
	w.at.Store(sent.get(w.key()).Checkpoint)
	return w
}

func (w *witness) key() string { return "witness " + w.url }

func (w *witness) status() Status {
	return Status{Kind: "witness", Target: w.url, Next: w.at.Load()}
}

func (w *witness) pass(ctx context.Context) error {
	var newest checkpoint
	before := w.sent.get(w.key()).Checkpoint
	err := w.log.Checkpoints(ctx, before, func(n int64, note []byte) error {
		newest = checkpoint{n, note}
		return nil
	})
	if err != nil || newest.size <= before {
		return err
	}
	a, err := w.submit(ctx, newest, before)
	if err != nil {
		return err
	}
	if size, ok := a.conflict(); ok && size != before && size <= newest.size {
		// It has one that we do not know of: our answer was lost, or what was kept.
		if a, err = w.submit(ctx, newest, size); err != nil {
			return err
		}
	}
	if a.status != http.StatusOK {
		return a.refusal(newest.size)
	}
	signed, err := cosigned(newest.note, a.body)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(w.checkpoints, signed, 0o600); err != nil {
		return err
	}
	w.at.Store(newest.size)
	return w.sent.set(w.key(), position{Checkpoint: newest.size})
}

// submit sends a checkpoint to a witness that has signed one of before records.
func (w *witness) submit(ctx context.Context, c checkpoint, before int64) (answer, error) {
	body := fmt.Appendf(nil, "old %d\n", before)
	if before > 0 && before < c.size {
		proof, err := tlog.ProveTree(c.size, before, w.log.Tiles(ctx))
		if err != nil {
			return answer{}, err
		}
		for _, h := range proof {
			body = append(base64.StdEncoding.AppendEncode(body, h[:]), '\n')
		}
	}
	body = append(append(body, '\n'), c.note...)
	return post(ctx, w.client, w.url+"/add-checkpoint", http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, body)
}

// conflict returns the size that a witness has, if it says that it has another than ours.
func (a answer) conflict() (size int64, ok bool) {
	if a.status != http.StatusConflict {
		return 0, false
	}
	size, err := strconv.ParseInt(strings.TrimSuffix(string(a.body), "\n"), 10, 64)
	return size, err == nil && size >= 0
}

// refusal returns why a witness has not signed a checkpoint of size records.
func (a answer) refusal(size int64) error {
	switch seen, ok := a.conflict(); {
	case ok && seen > size:
		return fmt.Errorf("the witness has seen %d records of this log, which has %d: some have been removed", seen, size)
	case ok:
		return fmt.Errorf("the witness has seen other records of this log: its first %d have been changed", seen)
	case a.status == http.StatusNotFound:
		return errors.New("the witness does not know this log: give it the key that mcpctl audit key prints")
	case a.status == http.StatusForbidden:
		return errors.New("the witness knows another key of this log: give it the one that mcpctl audit key prints")
	case a.status == http.StatusUnprocessableEntity:
		return errors.New("the witness has seen other records of this log: some have been changed")
	}
	return fmt.Errorf("the witness answers HTTP %d", a.status)
}

// cosigned returns a checkpoint with the signatures that a witness has answered with. Who
// knows the witness's key checks them.
func cosigned(note, signatures []byte) ([]byte, error) {
	for line := range bytes.Lines(signatures) {
		name, sig, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(string(line), "— "), "\n"), " ")
		raw, err := base64.StdEncoding.DecodeString(sig)
		if !ok || !bytes.HasPrefix(line, []byte("— ")) || line[len(line)-1] != '\n' || name == "" || err != nil || len(raw) <= 4 {
			return nil, errors.New("the witness answers with something else than signatures")
		}
	}
	if len(signatures) == 0 {
		return nil, errors.New("the witness answers without a signature")
	}
	return append(bytes.Clone(note), signatures...), nil
}
