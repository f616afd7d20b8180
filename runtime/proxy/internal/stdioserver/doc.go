// Package stdioserver serves one client over a pair of streams, of either era or both.
//
// One goroutine reads, and puts calls straight into a backend's connection; their
// answers are written by that connection's reader. What may wait has a goroutine
// of its own. load bounds what is in flight: beyond it nothing is read.
//
// It owns no lock: what it shares with backends is atomic, or the output's.
package stdioserver
