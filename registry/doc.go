// Package registry reads an MCP registry: the public list of MCP servers, or a
// private or static one with a part of the same API (/v0.1).
//
// A [Client] searches, lists and fetches records. A [Record] is one published
// version of a server: the publisher's document ([Server]) and what the
// registry says about it ([Meta]). Documents are decoded leniently, because
// registries serve invalid ones: a member of the wrong kind is left out and named
// in [Server.Faults], and [Server.Raw] has the document's bytes.
//
// All text in a record was written by strangers. Nothing here interprets it;
// package scaffold turns it into an entry under rules that keep it text.
package registry
