package proxy

// Changes tells by name what another configuration has changed. The slices are
// in the order of that configuration, Removed in the order of the one before.
type Changes struct {
	// Added and Removed are servers that are new and that are gone.
	Added, Removed []string
	// Replaced are servers that are reached otherwise: their connections are
	// made anew.
	Replaced []string
	// Adjusted are those whose connections stay and whose settings are others.
	Adjusted []string
}

// None tells whether nothing has changed but, perhaps, the order.
func (c Changes) None() bool {
	return len(c.Added)+len(c.Removed)+len(c.Replaced)+len(c.Adjusted) == 0
}

// Reconfigure puts other servers behind the proxy. What concerns a server that
// stays as it was is not touched: its connections, its calls, its names and
// URIs. Dial must know the new servers by now.
//
// From its return on requests go by the new servers. Calls that are under way to
// one that is gone or replaced end as they would have, for up to 30 s or the
// server's RequestTimeout where that is less; then its connections are closed.
// A replaced server keeps its place in the lists, with what it offered, until it
// has been asked anew; subscriptions follow it, tasks and interrupted calls do
// not.
//
// Clients that have seen a list are told once that it has changed, when added and
// replaced servers have been asked what they offer, after five seconds at the
// latest.
//
// It fails, and changes nothing, for a name that is empty or repeated, and after
// Close.
func (p *Proxy) Reconfigure(servers []Server) (Changes, error) {
	c, err := p.router.Reconfigure(settingsOf(servers))
	return Changes(c), err
}
