package client

import "slices"

// Found returns the names of the tools that the session has found, which are not to be
// changed.
func (cl *Client) Found() []string {
	if all := cl.found.Load(); all != nil {
		return *all
	}
	return nil
}

// Find adds names of tools that the session has found, given the best first. Beyond most of
// them, those leave that were found longest ago, and of one search the worst. It reports
// whether there are others now.
func (cl *Client) Find(names []string, most int) (news bool) {
	for {
		before := cl.found.Load()
		was := cl.Found()
		var now []string // the last in it leave first
		for _, name := range slices.Concat(names, was) {
			if len(now) < most && !slices.Contains(now, name) {
				now = append(now, name)
			}
		}
		if cl.found.CompareAndSwap(before, &now) {
			return len(now) != len(was) || slices.ContainsFunc(now, func(name string) bool { return !slices.Contains(was, name) })
		}
	}
}

// TooLong reports whether a list that costs some tokens is too long for a budget. A session
// keeps what it was told until the cost is a fifth of the budget beyond it, on the other side.
func (cl *Client) TooLong(cost, budget int) bool {
	long, margin := cost > budget, budget/5
	if was := cl.long.Load(); was != nil && *was {
		long = cost > budget-margin
	} else if was != nil {
		long = cost > budget+margin
	}
	cl.long.Store(&long)
	return long
}
