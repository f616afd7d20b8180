// Package hostile is an MCP server that misbehaves on purpose, as a program on
// standard input and output ([Main]) and over HTTP ([Handler]). What it does
// beside its faults is right: its answers can be told from another's.
//
// It speaks 2025-11-25 and shares no code with mcpctl.
package hostile
