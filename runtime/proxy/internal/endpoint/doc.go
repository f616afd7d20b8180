// Package endpoint is what the ways in for clients share: it classifies messages,
// admits requests of the stateless era, serves batches, and drains the endpoints
// before the proxy ends. Packages stdioserver and httpserver are the two kinds.
//
// It owns the set of endpoints ([Set]) and each client's requests in progress
// ([InProgress]). Set.Mu is held only while the set changes and InProgress.mu
// only for a look-up; no other lock is taken under either.
//
// It knows of servers only what router and upstream.Client offer, and nothing of
// how bytes reach a client.
package endpoint
