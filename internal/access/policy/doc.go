// Package policy decides what principals may see and do.
//
// A [Set] is compiled policies, written in Cedar. Bound to the items of all servers it is a
// [Snapshot], and a [View] is what one principal may see of that. An item of a view that is
// allowed whatever its arguments are has no [Conditions]; the others are decided for each
// request.
//
// A view is made by evaluating the policies as far as they do not depend on the request:
// first for the principal, then for each action, then for each class of items that no
// policy tells apart. What is left is evaluated for each request. Principals of whom
// policies read the same share a view.
//
// Cedar passes over a policy that cannot be evaluated. Here a forbid that cannot be
// evaluated holds, and a permit does not. An argument that cannot be read exactly denies;
// see [Reader].
//
// The package does no I/O and keeps no state of requests. cedar.go alone imports what
// cedar-go makes no promises for.
//
// Locks: World.mu guards the views that are remembered, entry.mu the readers of a tool.
// Both are held for work in memory only, and none is taken while another is held.
package policy
