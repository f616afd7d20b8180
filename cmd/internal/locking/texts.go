package locking

// The help texts of the commands.
const (
	LockLong = `Write what servers offer into servers.lock.json, which is next to servers.json and is for version control: their
instructions, tools, prompts, resources and templates with digests, and the package, image or address that each entry
leads to. Without ALIAS, all servers are locked that are enabled and not "pin": "off".

A server that cannot be reached keeps what was locked of it, and the exit code says why. What differs later is a
warning of serve, status and the commands that use the server; with "pin": "hold" in its entry, new and changed tools
are neither listed nor callable until they are approved.`

	LockExample = "  mcpctl lock\n  mcpctl lock fs\n  mcpctl lock diff\n  mcpctl lock approve fs/read_file"

	DiffLong = `Show how servers differ from servers.lock.json, place by place. Invisible characters and those that reorder text are
spelled out. The exit code is 10 if anything differs.`

	VerifyLong = `Check that servers are as they are locked, a line for each. Nobody is asked anything. The exit code is 10 if
anything differs. With --offline no server is started: the entries of servers.json are compared, and the lock file itself
is checked.`

	ApproveLong = `Take over what a server says now: everything, or the tool, prompt or resource of one name. The difference is shown
first, and mcpctl asks. A running serve follows at once.`
)
