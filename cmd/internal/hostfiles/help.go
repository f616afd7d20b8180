package hostfiles

import (
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/hosts"
)

// ImportLong returns the long help of mcpctl import.
func ImportLong() string {
	return "Import servers from the files of other hosts into servers.json. Placeholders are translated, and what mcpctl has no\n" +
		"setting for is named. A server that servers.json has, by what it runs, is not imported again. One that would lose what\n" +
		"limits its tools or its users is not imported, and the exit code is 5; --force imports it without that.\n\n" +
		"HOST is one of these; FILE is any file in one of their forms, - standard input:\n  " + hostList(hosts.Names()) + "\n\n" +
		"Files of these gateways are read as well. Their servers go to servers.json, their profiles, groups and renamed tools to\n" +
		"serve.views of config.yaml. --from names the gateway of a file that could be of several:\n  " + hostList(hosts.GatewayNames()) + "\n\n" +
		"Without HOST, all files that are found are read, and mcpctl asks about each host. The hosts' files do not change."
}

// ExportLong returns the long help of mcpctl export.
func ExportLong() string {
	return "Write servers of servers.json to the file of another host, by default all of them, in the host's own form and with its\n" +
		"placeholders. Where the host has none, or would get a secret, its entry starts mcpctl run or mcpctl bridge.\n\n" +
		"Only entries that mcpctl has written are ever replaced. Everything else in the file keeps its bytes, and --undo takes\n" +
		"an export back.\n\nHOST is one of\n  " + hostList(hosts.Names())
}

// SyncLong is the long help of mcpctl sync.
const SyncLong = "Bring the files of hosts that were exported to in line with servers.json: new servers, changed and removed ones. With\n" +
	"--check nothing is written, and the exit code is 10 if a file differs. With --watch, mcpctl follows each\n" +
	"change of servers.json until it is interrupted."

// hostList returns names for a help text.
func hostList(names []string) string {
	return strings.Join(ui.Wrap(strings.Join(names, " "), 100), "\n  ")
}
