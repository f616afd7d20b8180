package proxy

import "github.com/mcpctl/mcpctl/runtime/revision"

// logLevel gives the level that the client has asked for, false where it has not.
func (o *clientState) logLevel() (revision.Level, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.level, o.hasLevel
}
