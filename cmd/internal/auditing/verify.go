package auditing

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/export"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
	"github.com/mcpctl/mcpctl/internal/audit/verify"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// VerifyOptions are the flags of audit verify: files, but for Key, which may be the key
// itself. All may be "".
type VerifyOptions struct{ DB, Key, Since, JSONL, Proof string }

// Verify prints what is wrong with the log, with an export of it, or with a proof. It fails
// with ErrFindings.
func (p *Command) Verify(ctx context.Context, o VerifyOptions) error {
	if count(o.DB != "", o.JSONL != "", o.Proof != "") > 1 {
		return ui.Usage("choose one of --db, --jsonl and --proof")
	}
	of := verify.Options{}
	var err error
	if of.Keys, err = p.verifiers(o.Key); err != nil {
		return err
	}
	if o.Proof != "" {
		return p.verifyProof(o.Proof, of.Keys)
	}
	if o.Since != "" {
		if of.Since, err = checkpoints(o.Since); err != nil {
			return err
		}
	}
	report, err := p.verify(ctx, o, of)
	if errors.Is(err, verify.ErrKey) {
		return ui.Usage("%w", err)
	}
	if err != nil {
		return err
	}
	if p.UI.WantJSON() {
		err = p.UI.EncodeJSON(struct {
			OK bool `json:"ok"`
			*verify.Report
		}{len(report.Findings) == 0, report})
	} else {
		err = p.report(report)
	}
	if err == nil && len(report.Findings) > 0 {
		err = ErrFindings
	}
	return err
}

// verify verifies a log or an export.
func (p *Command) verify(ctx context.Context, o VerifyOptions, of verify.Options) (*verify.Report, error) {
	if o.JSONL != "" {
		in := p.UI.In
		if o.JSONL != "-" {
			file, err := os.Open(o.JSONL)
			if err != nil {
				return nil, ui.Usage("%w", err)
			}
			defer func() { _ = file.Close() }() // nothing is written
			in = file
		}
		return verify.JSONL(ctx, in, of)
	}
	report, err := verify.File(ctx, cmp.Or(o.DB, p.path()), of)
	return report, p.explain(err)
}

// verifiers returns the verifier keys that a word gives: the lines of a file, or itself;
// for "" the key of this machine's log.
func (p *Command) verifiers(word string) ([]string, error) {
	if word == "" {
		if _, err := os.Stat(p.keyPath()); err != nil {
			return nil, ui.Usage("there is no key to verify with").WithHint("--key FILE, with what mcpctl audit key has printed where the log is written")
		}
		k, err := p.key()
		if err != nil {
			return nil, err
		}
		return []string{k.Verifier()}, nil
	}
	if _, err := os.Stat(word); errors.Is(err, fs.ErrNotExist) && strings.Contains(word, "+") {
		return []string{word}, nil // the key itself
	}
	raw, err := atomicfile.Read(word, maxLine)
	if err != nil {
		return nil, ui.Usage("%w", err)
	}
	keys := strings.Fields(string(raw))
	if len(keys) == 0 || strings.HasPrefix(keys[0], "{") {
		return nil, ui.Usage("%s has no public key", word).WithHint("a key is the line that mcpctl audit key prints")
	}
	return keys, nil
}

// maxCheckpoints is the greatest size of a file with checkpoints, in bytes: those of some
// years.
const maxCheckpoints = 512 << 20

// checkpoints returns the checkpoints of a file: of an anchor, which has an empty line
// behind each, of an export, or one.
func checkpoints(path string) (all [][]byte, err error) {
	raw, err := atomicfile.Read(path, maxCheckpoints)
	if err != nil {
		return nil, ui.Usage("%w", err)
	}
	text := strings.TrimLeft(string(raw), "\r\n")
	if strings.HasPrefix(text, "{") {
		for line := range strings.Lines(text) {
			if m, ok := export.ParseMark([]byte(strings.TrimSuffix(line, "\n"))); ok && m.Checkpoint != "" {
				all = append(all, []byte(m.Checkpoint))
			}
		}
	} else {
		parts := strings.Split(text, "\n\n")
		for i := 0; i+1 < len(parts); i += 2 {
			msg := strings.TrimLeft(parts[i], "\n") + "\n\n" + strings.TrimRight(parts[i+1], "\n") + "\n"
			if _, err := merkle.Unsigned([]byte(msg)); err != nil {
				return nil, ui.Usage("%s: checkpoint %d cannot be read", path, i/2+1) //nolint:mnd // two parts each
			}
			all = append(all, []byte(msg))
		}
	}
	if all == nil {
		return nil, ui.Usage("%s has no checkpoint", path).WithHint("a file of audit.anchor has them, an export, or the end of what mcpctl audit prove prints")
	}
	return all, nil
}

// report prints a report for people.
func (p *Command) report(r *verify.Report) error {
	var b strings.Builder
	c := p.UI.Palette()
	for _, f := range r.Findings {
		b.WriteString(c.Red(string(f.Kind)) + ": " + ui.CleanLine(f.Text) + "\n")
	}
	for _, f := range r.Remarks {
		b.WriteString(c.Cyan("note") + ": " + ui.CleanLine(f.Text) + "\n")
	}
	what := fmt.Sprintf("%s of %s, %s, signed up to record %d", plain.Count(int(r.Size-r.Oldest), "record"), ui.CleanLine(cmp.Or(r.Origin, "a log without a name")), plain.Count(r.Runs, "run"), r.Signed)
	if n := len(r.Findings) + r.More; n > 0 {
		fmt.Fprintf(&b, "%s: %d in %s\n", c.Red("findings"), n, what)
	} else {
		fmt.Fprintf(&b, "%s: %s\n", c.Green("ok"), what)
	}
	_, err := p.UI.Out.Write([]byte(b.String()))
	return err
}

// verifyProof checks a proof.
func (p *Command) verifyProof(path string, keys []string) error {
	raw, err := readAll(path, p.UI.In)
	if err != nil {
		return err
	}
	proof, checkpoint, err := verify.Proof(raw, keys)
	switch {
	case errors.Is(err, verify.ErrKey):
		return ui.Usage("%w", err)
	case err != nil:
		if p.UI.WantJSON() {
			err = p.UI.EncodeJSON(map[string]any{"ok": false, "text": err.Error()})
		} else {
			_, err = fmt.Fprintf(p.UI.Out, "%s: %v\n", p.UI.Palette().Red("not proven"), err)
		}
		return cmp.Or(err, ErrFindings)
	case p.UI.WantJSON():
		return p.UI.EncodeJSON(struct {
			OK     bool            `json:"ok"`
			Origin string          `json:"origin"`
			Number int64           `json:"number"`
			Size   int64           `json:"size"`
			Record json.RawMessage `json:"record"`
		}{true, checkpoint.Origin, proof.Index, checkpoint.Size, proof.Record})
	}
	_, err = fmt.Fprintf(p.UI.Out, "%s: record %d is among the %d records of %s\n%s\n", p.UI.Palette().Green("proven"), proof.Index, checkpoint.Size, ui.CleanLine(checkpoint.Origin), ui.CleanLine(string(proof.Record)))
	return err
}

// Prove prints the proof of a record.
func (p *Command) Prove(ctx context.Context, name string) error {
	l, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // nothing is written
	e, err := p.find(ctx, l, name)
	if err != nil {
		return err
	}
	proof, err := l.Prove(ctx, e.Number)
	if err != nil {
		return p.explain(err)
	}
	_, err = p.UI.Out.Write(proof.Text())
	return err
}

// Rotate has another key sign from now on, and prints it as Key does. The record of that is
// one of a run of its own.
func (p *Command) Rotate(ctx context.Context) error {
	k, err := p.key()
	if err != nil {
		return err
	}
	l, err := logfile.Open(ctx, p.path(), logfile.Options{Key: k})
	if err != nil {
		return p.explain(err)
	}
	defer func() { _ = l.Close() }() // all is committed
	_, err = l.Rotate(ctx, func(text string) error {
		r := audit.Record{Time: p.now(), Run: strings.ToLower(rand.Text()[:10]), N: 1, Kind: audit.KindRotate, Principal: audit.Principal{ID: access.Local}, Text: text}
		_, err := l.Append(ctx, &audit.Batch{Run: r.Run, Records: [][]byte{r.Append(nil)}, Sync: true})
		return err
	})
	if err != nil {
		return p.explain(err)
	}
	return p.Key(false)
}

// Body prints the arguments of a call that are kept, or its result.
func (p *Command) Body(ctx context.Context, name string, result bool) error {
	l, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // nothing is written
	e, err := p.find(ctx, l, name)
	if err != nil {
		return err
	}
	if e.Kind == audit.KindDone && !result && e.Opening != nil {
		e = e.Opening
	}
	body, err := l.Body(ctx, e.Number, result)
	if err == nil && body == nil && result && e.Outcome.Out == "" {
		body, err = later(ctx, l, e)
	}
	switch {
	case err != nil:
		return p.explain(err)
	case body == nil:
		what := map[bool]string{false: "arguments", true: "result"}[result]
		return ui.Usage("the %s of record %s are not kept", what, name).WithHint("audit.bodies in config.yaml says which are, and for how long")
	case body.Cut:
		p.UI.Info("note: it was longer: audit.bodies.max says how much is kept")
	}
	_, err = p.UI.Out.Write(append(body.Data, '\n'))
	return err
}

// later returns the result that came after the record of a decision, nil if it is not kept.
func later(ctx context.Context, l *logfile.Log, of *Entry) (body *audit.Body, err error) {
	needle := fmt.Appendf(nil, `"kind":"done","of":%d`, of.N)
	err = l.Read(ctx, of.Number+1, 0, func(n int64, raw []byte) error {
		if !bytes.Contains(raw, needle) {
			return nil
		}
		e, err := parse(n, raw)
		if err != nil || e.Run != of.Run || e.Of != of.N {
			return err
		}
		if body, err = l.Body(ctx, n, true); err == nil {
			err = errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return body, err
}
