package auditing

// Texts of the help.
const (
	Long = `Show what was done through mcpctl, as the audit log has it: who has asked for what, what the policies said, and what came
of it. There is a log if config.yaml has a section audit.

RECORD is RUN-N, as data.record of an error has it, or the number of a record in the log: all that it has is shown. Without
one, the records are listed, the newest last: the newest 100 on a terminal, and all as JSON, where each record is one line
with the bytes that are signed.

Filters that are given must all hold. In --who, --server, --tool, --flow and --by, * stands for any text. --since and --until
are how long ago, such as 2h or 7d, or a time in UTC, such as 2026-11-22 or 2026-11-22T09:00:00Z.`
	Example  = "  mcpctl audit\n  mcpctl audit --server gh --verdict deny --since 24h\n  mcpctl audit --errors --json | jq .item\n  mcpctl audit 3c1f-17"
	TailLong = `Show the newest records, and with -f each new one as soon as it is in the log, until Ctrl-C. Filters are as in mcpctl
audit. Records are followed by their number, so none is left out and none comes twice, whichever processes write.`
	VerifyLong = `Check that the log is as it was written: each record, the tree over all of them, and the checkpoints that were signed. It
needs the file and the public key that mcpctl audit key prints, reads only, and may run while mcpctl serve writes.

--since is a checkpoint that left the machine before: a file of an anchor, an export, or one checkpoint. The log must go on
from there: one that was cut off or written again does not. --jsonl checks the records of an export against the log's
signatures, --proof a proof of mcpctl audit prove, which needs the key and nothing else.

Each finding is one line. Findings exit with code 10.`
	ProveLong = `Print a proof that a record is in the log: the record, the hashes up to a signed checkpoint, and the checkpoint. It is a
C2SP tlog-proof. mcpctl audit verify --proof checks it, with the public key alone.`
	ExportLong = `Write the records out: as the lines that the log has (--jsonl, with the checkpoints between them), as the requests of
OpenTelemetry's protocol (--otlp, one line each), or as a table for spreadsheets (--csv).

With -o FILE an export continues where the file ends, also where it was cut off in the middle of a line: no record is left
out and none comes twice. --since is the number of the first record.`
	KeyLong = `Print the public key of the log, which is what mcpctl audit verify needs. Give it to who verifies the log, before there is
a reason to. --all has the keys that have signed before, too.`
	RotateLong = `Replace the key that signs by a new one. A record of it is written, and the next checkpoint is signed by both keys, so
that who has the old key comes to trust the new one. It can run while mcpctl serve runs.`
	DigestLong = `Print the digest that records have of the bytes of a file. It is keyed: only who can read the key of the log can make it.`
	BodyLong   = `Print the arguments that were kept of a call, or with --result its result. They are kept where audit.bodies says so, for
as long as it says, without secrets and not longer than it says.`
)
