// Package sessions finds the servers that mcpctl session keeps running, and is what such a
// process does besides serving: it says what it keeps, ends when it is told to, and ends
// when nobody has called for a while.
//
// A session is one server of one configuration file with one set of expanded values. All
// three are in the name of its socket, so a command finds the session that fits it, or
// none, without asking anybody.
package sessions

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// DefaultIdle is how long a session outlives its last call.
const DefaultIdle = 30 * time.Minute

// Info is what a session says of itself.
type Info struct {
	Server string `json:"server"`
	// Config is the absolute path of the configuration file.
	Config  string    `json:"config"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// LastUsed is when the last request came or ended, Idle after how many seconds
	// without one the session ends; 0 is never.
	LastUsed time.Time `json:"lastUsed"`
	Idle     float64   `json:"idleSeconds"`
	// ProtocolVersion is the revision that the server speaks, "" where that is not
	// known just now.
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	// Socket is the path of the socket.
	Socket string `json:"socket"`
}

const (
	// keyName is the file of the key that the names of sockets are made with: the
	// values in them may be secret, and short.
	keyName = "session.key"
	keySize = 32
	// prefix begins the name of a socket, before the digest.
	prefix = "s"
	// digestBytes is how much of the digest there is: paths of sockets must be short.
	digestBytes = 6
)

// ErrNone is the error of [Path] where no session was ever started.
var ErrNone = errors.New("there is no session")

// Path returns the socket of the session of a server, whether there is one or not. With
// create the key of the names is made where there is none, and the directory; else the
// error is [ErrNone].
func Path(state, file string, x config.Expanded, create bool) (string, error) {
	if state == "" {
		return "", errors.New("the environment names no state directory")
	}
	key, err := os.ReadFile(filepath.Join(state, keyName))
	if errors.Is(err, fs.ErrNotExist) && !create {
		return "", ErrNone
	}
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("it has %d bytes, want %d", len(key), keySize)
	}
	if err != nil {
		if !create {
			return "", fmt.Errorf("%s cannot be used: %w", filepath.Join(state, keyName), err)
		}
		if key, err = newKey(state); err != nil {
			return "", err
		}
	}
	dir := control.Dir(state)
	if create {
		if err := control.Prepare(dir); err != nil {
			return "", err
		}
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%q %q ", file, x.Entry.Name)
	x.Identify(mac)
	return filepath.Join(dir, prefix+hex.EncodeToString(mac.Sum(nil)[:digestBytes])), nil
}

// newKey makes the key, unless another process has just made it.
func newKey(state string) ([]byte, error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	temp, err := os.CreateTemp(state, keyName+".*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(key)
	if err := errors.Join(err, temp.Close()); err != nil {
		return nil, err
	}
	path := filepath.Join(state, keyName)
	if err := os.Link(temp.Name(), path); err != nil { // fails where there is one
		if got, read := os.ReadFile(path); read == nil && len(got) == keySize {
			return got, nil
		}
		return key, os.Rename(temp.Name(), path)
	}
	return key, nil
}

// sockets returns the paths of all sockets of sessions, of dead ones, too.
func sockets(state string) []string {
	all, _ := filepath.Glob(filepath.Join(control.Dir(state), prefix+strings.Repeat("[0-9a-f]", 2*digestBytes)))
	return all
}
