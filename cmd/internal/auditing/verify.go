package auditing

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mcpctl/mcpctl/cmd/internal/failure"
	"github.com/mcpctl/mcpctl/runtime/audit"
	"github.com/mcpctl/mcpctl/runtime/audit/logfile"
)

// VerifyOptions are the flags of audit verify.
type VerifyOptions struct{ DB, Key, Since, JSONL, Proof string }

// Verify checks.
func (p *Program) Verify(ctx context.Context, o VerifyOptions) error { return errors.ErrUnsupported }

// Prove prints the proof of a record.
func (p *Program) Prove(ctx context.Context, name string) error {
	log, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // nothing is written
	e, err := p.find(ctx, log, name)
	if err != nil {
		return err
	}
	proof, err := log.Prove(ctx, e.Number)
	if err != nil {
		return p.explain(err)
	}
	_, err = p.UI.Out.Write(proof.Text())
	return err
}

// Rotate replaces the key.
func (p *Program) Rotate(ctx context.Context) error { return errors.ErrUnsupported }

// Body prints the arguments of a call that are kept, or its result.
func (p *Program) Body(ctx context.Context, name string, result bool) error {
	log, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // nothing is written
	e, err := p.find(ctx, log, name)
	if err != nil {
		return err
	}
	if e.Kind == audit.KindDone && !result && e.Decision != nil {
		e = e.Decision
	}
	body, err := log.Body(ctx, e.Number, result)
	if err == nil && body == nil && result && e.Came.Out == "" {
		body, err = later(ctx, log, e)
	}
	switch {
	case err != nil:
		return p.explain(err)
	case body == nil:
		what := map[bool]string{false: "arguments", true: "result"}[result]
		return failure.Usage("the %s of record %s are not kept", what, name).WithHint("audit.bodies in config.yaml says which are, and for how long")
	case body.Cut:
		p.UI.Note("note: it was longer: audit.bodies.max says how much is kept")
	}
	_, err = p.UI.Out.Write(append(body.Data, '\n'))
	return err
}

// later returns the result that came after the record of a decision, nil if it is not kept.
func later(ctx context.Context, log *logfile.Log, of *Entry) (body *audit.Body, err error) {
	needle := fmt.Appendf(nil, `"kind":"done","of":%d`, of.N)
	err = log.Read(ctx, of.Number+1, 0, func(n int64, raw []byte) error {
		if !bytes.Contains(raw, needle) {
			return nil
		}
		e, err := parse(n, raw)
		if err != nil || e.Run != of.Run || e.Of != of.N {
			return err
		}
		if body, err = log.Body(ctx, n, true); err == nil {
			err = errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return body, err
}
