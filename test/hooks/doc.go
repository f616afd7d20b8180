// Package hooks runs mcpctl serve with a hook that is a server of its own, which answers as
// fixtures.json says, a row a case: each kind of interceptor of the draft, and each way to
// fail. The test binary is that server when it is started as one.
//
// TestDraft runs the fixtures of the draft's working group from a copy of them, which
// MCPCTL_TEST_INTERCEPTORS names.
package hooks
