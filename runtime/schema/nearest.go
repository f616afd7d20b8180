package schema

import "github.com/mcpctl/mcpctl/runtime/internal/nearest"

// Nearest gives up to n of names that someone who wrote name may have meant,
// the likeliest first; none when nothing is close.
func Nearest(name string, names []string, n int) []string { return nearest.Names(name, names, n) }
