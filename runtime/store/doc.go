// Package store holds mcpctl's state on disk: a database of what was learned about
// servers ([DB]), and the way files are written and read ([WriteFile],
// [ReadFile]).
package store
