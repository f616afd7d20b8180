package audit

// Batch is what is added to a log in one transaction.
type Batch struct {
	// Run is the run that all records are of.
	Run string
	// Records are the JSON of records, in order. They are the log's only until it returns.
	Records [][]byte
	// Bodies are kept beside the records.
	Bodies []Body
	// State replaces what the log keeps for the run beside its records, for the process that
	// comes after a run that was cut off; nil removes it. What it says is the journal's affair.
	State []byte
	// Sync has the records outlive a loss of power.
	Sync bool
	// Sign asks that the log be signed in the same transaction. The log sets Signed where it
	// was; a failure to sign does not keep the records out.
	Sign, Signed bool
}

// Body is what a record has only the digest of: arguments, or a result.
type Body struct {
	// Record is the record's place in its batch.
	Record int
	// Digest is the record's digest of the bytes as they were sent.
	Digest string
	// Result is that these are a result.
	Result bool
	// Data are the bytes, without secrets where the settings say so. Cut is that there were
	// more.
	Data []byte
	Cut  bool
}
