package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/mcpctl/mcpctl/runtime/audit"
	"github.com/mcpctl/mcpctl/runtime/audit/journal"
)

// Recorded reports whether suites run with an audit log. MCPCTL_TEST_AUDIT=1 turns it on.
func Recorded() bool { return os.Getenv("MCPCTL_TEST_AUDIT") != "" }

// records is the section audit where suites run with an audit log.
func records() string {
	if !Recorded() {
		return ""
	}
	return "audit: {}\n"
}

// Journal takes the records of proxies in the tests' own process, where suites run with an
// audit log; nil elsewhere. Recording opens and closes it.
var Journal *journal.Journal

// Recording runs tests, with Journal.
type Recording struct{ M interface{ Run() int } }

// Run returns 1 where tests have passed, and something else than records was recorded.
func (r Recording) Run() int {
	if !Recorded() {
		return r.M.Run()
	}
	log := new(parsed)
	var err error
	Journal, err = journal.Open(context.Background(), journal.Options{Keeper: log, Digest: func(dst, _ []byte) []byte { return append(dst, "hmac:x"...) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := r.M.Run()
	if err := errors.Join(Journal.Close(context.Background()), log.err); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// parsed is a log that keeps nothing, and notes what is no record.
type parsed struct{ err error }

func (p *parsed) Append(_ context.Context, b *audit.Batch) (int64, error) {
	for _, text := range b.Records {
		if _, err := audit.Parse(text); err != nil && p.err == nil {
			p.err = fmt.Errorf("%s: %w", text, err)
		}
	}
	return 0, nil
}

func (*parsed) State(context.Context, string) ([]byte, error)     { return nil, nil }
func (*parsed) Checkpoint(context.Context) (note []byte, _ error) { return nil, nil }

// Verify has a program verify the audit log below a home, where suites run with one.
func Verify(program, config, home string) error {
	if !Recorded() {
		return nil
	}
	cmd := exec.Command(program, "audit", "verify")
	cmd.Env = Environment(config, home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mcpctl audit verify: %w\n%s", err, out)
	}
	return nil
}
