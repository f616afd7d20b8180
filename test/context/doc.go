// Package context measures what whole tasks cost a model in tokens, turns and calls: with all
// tools in its prompt, with those of search mode, and with a host that searches by itself.
package context
