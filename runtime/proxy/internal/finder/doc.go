// Package finder has clients find tools instead of listing them all: the tools
// search_tools, call_tool and call_read_tool, which are no server's, the lists that have
// these in the place of the others, and who gets such a list.
//
// The definitions, the questions and the answers in words are pure functions. [Finder] joins
// them with the catalog, whose tools it has indexed by one engine for all clients. What
// somebody may not see is left out after ranking, so that it is in no answer and no count.
//
// Locks: that of a Finder is a leaf.
package finder
