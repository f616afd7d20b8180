// Package merge joins two changes of one JSON object: what its user has edited, and what
// its publisher has. Both are measured against the text that both began with.
//
// It is pure, and knows nothing of what the members mean.
package merge
