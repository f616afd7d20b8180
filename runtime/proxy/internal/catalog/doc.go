// Package catalog keeps what clients see of all servers together, and where it
// leads: the names and URIs that tools, prompts and resources are exposed under,
// the lists of them, and whose each name and URI is.
//
// A [Publisher] collects the [inventory.Inventory] of each backend and builds an
// immutable [Catalog] of them, which requests read without a lock. It owns that
// catalog, what servers have listed before, the links that they have handed out
// in results, and the [Listeners] that are told of changed lists.
//
// Where policies count, each [policy.View] has a Catalog of its own, made of the sections of
// the one of all when somebody with that view first comes: see [Publisher.Of]. Everything
// that a client is told of is read there, so that what is hidden is not there.
//
// Locks: Publisher.mu is held while a catalog is built and while clients are told,
// and before a backend's and that of the listeners, and both before that of the views of
// a catalog; the locks of waiting updates,
// pages and handed-out links are for memory work alone and taken last. The package knows servers as
// [upstream.Backend], and no request, session or endpoint.
package catalog
