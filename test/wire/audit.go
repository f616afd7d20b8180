package wire

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
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

// Run returns what the tests do, or 1 where their journal fails.
func (r Recording) Run() int {
	if !Recorded() {
		return r.M.Run()
	}
	dir, err := os.MkdirTemp("", "mcpctl-records-*")
	if err == nil {
		defer os.RemoveAll(dir)
		Journal, err = journal.Open(context.Background(), journal.Options{Dir: dir, Log: nowhere{}, Digest: func(dst, _ []byte) []byte { return append(dst, "hmac:x"...) }})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := r.M.Run()
	if err := Journal.Close(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// nowhere is a log that keeps nothing.
type nowhere struct{}

func (nowhere) Append(context.Context, *audit.Batch) (int64, error) { return 0, nil }
func (nowhere) State(context.Context, string) ([]byte, error)       { return nil, nil }
func (nowhere) Checkpoint(context.Context) (note []byte, err error) { return nil, nil }

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
