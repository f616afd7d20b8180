// Package rawjson finds places in JSON text and edits there, leaving every
// other byte alone. It is what lets a message cross mcpctl unchanged: the text
// is validated once, and what must be read or replaced is addressed by span.
//
// Validation is that of RFC 8259, of the whole text, with two allowances
// that other MCP peers make: duplicate member names deep inside a payload and
// escaped lone surrogates pass. Raw invalid UTF-8 does not.
package rawjson
