package cli

// What mcpctl --help says of mcpctl as a whole.
const (
	rootLong = `mcpctl finds MCP servers, calls their tools, generates typed Go clients for them and
puts many of them behind one endpoint. The servers stand in one file, servers.json.

  mcpctl SERVER                  short for mcpctl tools SERVER
  mcpctl SERVER TOOL [ARGS...]   short for mcpctl call SERVER TOOL [ARGS...]

With --url URL in place of SERVER, they talk to a server that is in no file; the short
forms do not exist then.

Results go to standard output: text on a terminal, JSON into a pipe or with --json.
Everything else goes to standard error.

Exit codes: 0 ok, 1 another failure, 2 wrong usage or arguments, 3 the tool reported an
error, 4 authorisation, 5 configuration, 6 cannot connect, 7 timeout, 8 protocol error,
10 generated files differ (--check), 130 interrupted.

Global flags and those of serve have twins in the environment, such as MCPCTL_NO_INPUT
for --no-input, and most a setting in config.yaml beside servers.json. --url has neither.`

	rootExample = `  mcpctl search github issues
  mcpctl add notes -- mcpctl demo-server
  mcpctl notes
  mcpctl notes search_items text=board
  mcpctl generate notes
  mcpctl serve --http`
)
