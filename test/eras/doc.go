// Package eras proves that mcpctl joins the protocol's eras: each line of its
// table of checks runs for each pair of a front of the proxy and a backend
// behind it, and test/reports/eras.md shows the outcome, cell by cell. The clients and
// the servers are written against the specification alone and share no framing
// code with mcpctl.
package eras
