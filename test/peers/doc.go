// Package peers holds tests in which nothing is ours but the program mcpctl:
// clients and servers are the official SDKs for Go, TypeScript and Python, the
// Inspector, the servers of test/npm and the scripted server of runtime/runtimetest,
// which shares no framing code with it.
// They need the build tag integration.
package peers
