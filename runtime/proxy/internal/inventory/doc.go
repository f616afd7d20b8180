// Package inventory holds what one server offers: its tools, prompts, resources and
// templates as it sent them, with what the proxy needs to know of each, how long they
// may be kept, and their stored form. An [Inventory] is not changed once it is
// published, so that it needs no lock. The package talks to no server and knows no
// name that clients see.
package inventory
