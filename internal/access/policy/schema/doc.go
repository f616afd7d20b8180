// Package schema checks policies without a request: it writes Cedar's schema for the tools
// that a policy is about, and has Cedar check the policy against it.
//
// The package does no I/O.
package schema
