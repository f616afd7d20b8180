// Package store is mcpctl's state on disk. So far it holds the one way in
// which files are written.
package store
