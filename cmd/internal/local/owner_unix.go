//go:build unix

package local

import (
	"os"
	"os/user"
	"strconv"
)

// Owner returns the user of this process, whom [Listen] lets in: an id that no other user
// of this machine has, and a name for people. The id is the user's name, or the number
// where the system has none.
func Owner() (id, name string) {
	id = strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		id = u.Username
	}
	return id, id
}
