package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newAudit(a *app) *cobra.Command {
	var q auditing.Query
	limit, all := 0, false
	cmd := &cobra.Command{
		Use: "audit [RECORD]", Short: "Show what was done, and prove it", Long: auditing.Long, Example: auditing.Example,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) > 0 && words[0] == "query" { // may be written out
				words = words[1:]
			}
			if err := a.words(words, 0, 1, "audit [RECORD]"); err != nil {
				return err
			}
			if cmd.Flags().Changed("limit") && limit < 1 {
				return usagef("--limit %d is less than 1", limit)
			}
			p := a.auditProgram()
			if len(words) == 0 {
				q.Brief = !all
				return p.Show(cmd.Context(), q, limit)
			}
			if err := unknownAudit(cmd, words[0]); err != nil {
				return err
			}
			return p.One(cmd.Context(), words[0])
		},
	}
	auditFilters(cmd, &q)
	cmd.Flags().BoolVar(&all, "all", false, "in a table, also starts, stops and lists, and a row for each outcome")
	cmd.Flags().IntVar(&limit, "limit", 0, "show the newest `N` (default 100 on a terminal)")
	cmd.AddCommand(newAuditTail(a), newAuditVerify(a), newAuditProve(a), newAuditExport(a), newAuditKey(a), newAuditDigest(a), newAuditBody(a))
	return cmd
}

// auditProgram returns what the commands about the log need.
func (a *app) auditProgram() *auditing.Command {
	return &auditing.Command{UI: a.ui, Settings: a.settings, StateDir: config.StateDir(a.getenv), Now: time.Now}
}

// unknownAudit returns the error for a word that is no command below audit, and cannot name
// a record.
func unknownAudit(cmd *cobra.Command, word string) error {
	if strings.ContainsAny(word[len(word)-1:], "0123456789") {
		return nil
	}
	return unknownName("unknown command audit", word, commandNames(cmd), cmd.CommandPath()+" --help")
}

// auditFilters declares the flags that say which records are meant.
func auditFilters(cmd *cobra.Command, q *auditing.Query) {
	f := cmd.Flags()
	f.StringVar(&q.Who, "who", "", "records of this `PRINCIPAL`: an ID, a name, or the ID without its issuer")
	f.StringVar(&q.Server, "server", "", "of this `SERVER`")
	f.StringVar(&q.Tool, "tool", "", "of this `NAME` of a tool or prompt, alone or as SERVER/NAME, or the URI of a resource")
	f.StringSliceVar(&q.Kinds, "kind", nil, "of this `KIND`, such as call, read or auth (repeatable)")
	f.StringSliceVar(&q.Verdicts, "verdict", nil, "with this `VERDICT`: allow, deny or limit (repeatable)")
	f.StringVar(&q.By, "by", "", "decided by this `POLICY`")
	f.StringVar(&q.Flow, "flow", "", "of this `CONVERSATION`")
	f.StringVar(&q.Since, "since", "", "from this `TIME` on, or this long ago")
	f.StringVar(&q.Until, "until", "", "before this `TIME`, or up to this long ago")
	f.BoolVar(&q.Errors, "errors", false, "only what was refused, or has failed")
	completeWords(cmd, "kind", auditing.Kinds()...)
	completeWords(cmd, "verdict", auditing.Verdicts()...)
}

func newAuditTail(a *app) *cobra.Command {
	var q auditing.Query
	last, follow := 0, false
	cmd := &cobra.Command{
		Use: "tail", Short: "Show the newest records, and follow the log", Long: auditing.TailLong, Example: "  mcpctl audit tail\n  mcpctl audit tail -f --errors\n  mcpctl audit tail -n 0 -f --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if last < 0 {
				return usagef("-n %d is less than 0", last)
			}
			err := a.auditProgram().Tail(cmd.Context(), q, last, follow)
			if follow && errors.Is(err, context.Canceled) {
				return &Error{Code: exitInterrupted, Err: err, Silent: true} // how one ends it
			}
			return err
		},
	}
	auditFilters(cmd, &q)
	const shown = 10
	cmd.Flags().IntVarP(&last, "lines", "n", shown, "show the newest `N` first")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "show each new record, until Ctrl-C")
	return cmd
}

// auditResult is the error of a command that has printed what it has found.
func auditResult(err error) error {
	if errors.Is(err, auditing.ErrFindings) {
		return &Error{Code: exitDrift, Err: err, Silent: true}
	}
	return err
}

func newAuditVerify(a *app) *cobra.Command {
	var o auditing.VerifyOptions
	cmd := &cobra.Command{
		Use: "verify", Short: "Check that the log is as it was written", Long: auditing.VerifyLong,
		Example: "  mcpctl audit verify\n  mcpctl audit verify --db copy/audit.db --key audit.pub --since checkpoint.txt\n  mcpctl audit verify --proof proof.txt --key audit.pub",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return auditResult(a.auditProgram().Verify(cmd.Context(), o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.DB, "db", "", "check this `FILE` instead of the log of this machine")
	f.StringVar(&o.Key, "key", "", "trust this `KEY`: a file that has it, or what mcpctl audit key prints")
	f.StringVar(&o.Since, "since", "", "the log must continue the checkpoints of this `FILE`")
	f.StringVar(&o.JSONL, "jsonl", "", "check the records of this `FILE`, an export")
	f.StringVar(&o.Proof, "proof", "", "check this `FILE`, a proof")
	return cmd
}

func newAuditProve(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "prove RECORD", Short: "Print a proof that a record is in the log", Long: auditing.ProveLong, Example: "  mcpctl audit prove 3c1f-17 >proof.txt", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.auditProgram().Prove(cmd.Context(), words[0])
		},
	}
}

func newAuditExport(a *app) *cobra.Command {
	var o auditing.ExportOptions
	cmd := &cobra.Command{
		Use: "export", Short: "Write the records out", Long: auditing.ExportLong, Example: "  mcpctl audit export --jsonl -o audit.jsonl\n  mcpctl audit export --csv --since 1000 >audit.csv", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Version = buildVersion().Version
			return a.auditProgram().Export(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.JSONL, "jsonl", false, "as the lines that the log has")
	f.BoolVar(&o.OTLP, "otlp", false, "as requests of OpenTelemetry's protocol")
	f.BoolVar(&o.CSV, "csv", false, "as a table")
	f.Int64Var(&o.Since, "since", 0, "begin with the record of this `NUMBER`")
	f.StringVarP(&o.File, "out", "O", "", "write into this `FILE`, and continue where it ends")
	return cmd
}

func newAuditKey(a *app) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "key", Short: "Print the public key of the log", Long: auditing.KeyLong, Example: "  mcpctl audit key >audit.pub\n  mcpctl audit key rotate", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.auditProgram().Key(all) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "also those that have signed before")
	cmd.AddCommand(&cobra.Command{
		Use: "rotate", Short: "Have another key sign from now on", Long: auditing.RotateLong, Example: "  mcpctl audit key rotate", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.auditProgram().Rotate(cmd.Context()) },
	})
	return cmd
}

func newAuditDigest(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "digest FILE", Short: "Print the digest that records have of bytes", Long: auditing.DigestLong, Example: "  printf '{\"item\":\"1\"}' | mcpctl audit digest -", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, words []string) error { return a.auditProgram().Digest(words[0]) },
	}
}

func newAuditBody(a *app) *cobra.Command {
	result := false
	cmd := &cobra.Command{
		Use: "body RECORD", Short: "Print the arguments or the result of a call, if they are kept", Long: auditing.BodyLong, Example: "  mcpctl audit body 3c1f-17\n  mcpctl audit body 3c1f-17 --result", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.auditProgram().Body(cmd.Context(), words[0], result)
		},
	}
	cmd.Flags().BoolVar(&result, "result", false, "the result")
	return cmd
}
