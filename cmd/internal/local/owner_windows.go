package local

import (
	"os"

	"golang.org/x/sys/windows"
)

// Owner returns the user of this process, whom [Listen] lets in: the security identifier,
// and a name for people.
func Owner() (id, name string) {
	const unknown = "unknown"
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return unknown, unknown // Listen has failed before
	}
	id = user.User.Sid.String()
	if name = os.Getenv("USERNAME"); name == "" {
		name = id
	}
	return id, name
}
