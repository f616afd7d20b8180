package auth

import (
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

type (
	// Config is how the credentials of one server are obtained. The zero value has a
	// person log in.
	Config = authconfig.Config
	// Secret is a text that fmt, log/slog and encoders do not show. The zero value is
	// empty.
	Secret = secret.Text
	// Token is what is kept of one server's authorization. Its String shows none of it.
	Token = tokenstore.Token
	// Store keeps tokens in a file, or, with Keyring set, in the keyring of the system: for that
	// the program imports package runtime/auth/keyring. A Store with a Path is ready for use.
	// Its methods may be called concurrently, by any number of processes.
	Store = tokenstore.Store
)

// NewSecret returns a secret text.
func NewSecret(text string) Secret { return secret.New(text) }
