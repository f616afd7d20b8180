// Package policy decides what principals may see and do.
//
// A [Set] is compiled policies. Bound to the items of all servers it is a [World], and a
// [View] is what one principal may see of that. An item of a view that is allowed whatever
// its arguments are has no [Conditions]; the others are decided for each request.
//
// The package does no I/O and keeps no state of requests.
package policy
