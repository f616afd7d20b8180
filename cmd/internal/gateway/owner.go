package gateway

import (
	"github.com/mcpctl/mcpctl/cmd/internal/local"
	"github.com/mcpctl/mcpctl/internal/access"
)

// socketOwner returns who asks on the socket of serve: package local lets nobody but the
// owner of this process connect.
func socketOwner() *access.Principal {
	id, name := local.Owner()
	return &access.Principal{ID: access.Local + "|" + id, Name: name, Provider: access.Local}
}
