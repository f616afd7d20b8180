// Package store is mcpctl's state on disk: one database of what was learned of
// servers ([DB]), and the one way in which files are written and read
// ([WriteFile], [ReadFile]).
package store
