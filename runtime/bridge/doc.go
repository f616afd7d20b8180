// Package bridge joins the protocol eras. MCP up to 2025-11-25 (legacy) opens a
// connection with a handshake; 2026-07-28 (modern) makes every request
// self-contained. Connect finds out which one a server speaks and wraps its
// bare transport into one that hides the difference, so that runtime.Client
// and everything above it is era-blind.
package bridge
