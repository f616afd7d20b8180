package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// LogLevel gives the level that the client has asked for, false where it has not.
func (o *clientState) LogLevel() (revision.Level, bool) {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	return o.Level, o.HasLevel
}
