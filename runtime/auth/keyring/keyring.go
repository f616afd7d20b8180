// Package keyring lets a program use tokens in the keyring of the system: the Secret Service on
// Linux, the Keychain on macOS, the Credential Manager on Windows. Import it for its effect:
//
//	import _ "github.com/mcpctl/mcpctl/runtime/auth/keyring"
//
// Without it, an [auth.Store] with Keyring set fails and names this import. A program that reads
// tokens from a file needs neither this package nor D-Bus, which it links on Linux.
//
// [auth.Store]: https://pkg.go.dev/github.com/mcpctl/mcpctl/runtime/auth#Store
package keyring

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/zalando/go-keyring"

	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

//nolint:gochecknoinits // the program imports the package for this
func init() { tokenstore.LinkKeyring(system{}) }

// system is the keyring that the library finds.
type system struct{}

func (system) Get(service, user string) (string, error) {
	if err := noSession(); err != nil {
		return "", err
	}
	text, err := keyring.Get(service, user)
	return text, failure(err)
}

func (system) Set(service, user, text string) error {
	if err := noSession(); err != nil {
		return err
	}
	return failure(keyring.Set(service, user, text))
}

func (system) Delete(service, user string) error {
	if err := noSession(); err != nil {
		return err
	}
	return failure(keyring.Delete(service, user))
}

func failure(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return tokenstore.ErrNoEntry
	}
	return err
}

// noSession returns why there can be no Secret Service, nil where there may be one. The
// library would start a D-Bus session for itself, and leave it running.
func noSession() error {
	switch runtime.GOOS {
	case "darwin", "windows":
		return nil
	}
	if at := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); at != "" && !strings.HasPrefix(at, "autolaunch:") {
		return nil
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat("/run/user/" + strconv.Itoa(os.Getuid()) + "/" + name); err == nil {
			return nil
		}
	}
	return errors.New("there is no D-Bus session, which it is reached by")
}
