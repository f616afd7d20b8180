package ui

import "github.com/mcpctl/mcpctl/runtime/plain"

// Clean makes text of a server or registry safe to print on a terminal; see
// [plain.Text].
func Clean(s string) string { return plain.Text(s) }

// CleanLine is [Clean] on one line; see [plain.Line].
func CleanLine(s string) string { return plain.Line(s) }
