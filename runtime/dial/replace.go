package dial

import (
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// Replace runs the stdio server of an entry in the place of this process, with more
// arguments behind its own; see [transport.Replace]. Of the options it needs Lookup.
// Faults of the entry and missing variables are config errors.
func Replace(entry config.Entry, more []string, o Options, streams transport.Streams) (code int, err error) {
	o.defaults()
	expanded, err := entry.Expand(o.Lookup)
	if err != nil {
		return 0, err
	}
	d := &dialer{Expanded: expanded, o: o, redact: expanded.Redactor()}
	start := d.stdioOptions()
	start.Args = append(start.Args, more...)
	return transport.Replace(start, streams)
}

// FindCommand returns where the program of an entry is. The error of one that is not
// there is that of starting it.
func FindCommand(entry config.Entry, o Options) (path string, err error) {
	o.defaults()
	expanded, err := entry.Expand(o.Lookup)
	if err != nil {
		return "", err
	}
	d := &dialer{Expanded: expanded, o: o, redact: expanded.Redactor()}
	return transport.FindCommand(d.stdioOptions())
}

// Malformed returns a sample of the first line that the stdio server of a client wrote
// and that was no message, "" for none.
func Malformed(c *runtime.Client) (sample string) {
	if s, ok := unwrap(c.Transport()).(*transport.Stdio); ok {
		sample, _ = s.Malformed()
	}
	return sample
}
