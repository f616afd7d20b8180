package control

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// maxPath is how long a socket's path may be on every system: macOS and the
	// BSDs take 104 bytes with a zero at the end, Linux and Windows 108.
	maxPath = 103
	// suffix ends the names of sockets, behind the process id.
	suffix = ".sock"
	// longest is the longest name of a socket: ids have up to ten digits.
	longest = len("/4294967295" + suffix)
)

// Dir returns the directory for the sockets of a state directory, which [Prepare] makes.
func Dir(state string) string { return socketDir(state, os.TempDir()) }

// socketDir returns the directory for the sockets of a state directory. temp is the
// system's directory for temporary files.
func socketDir(state, temp string) string {
	if abs, err := filepath.Abs(state); err == nil {
		state = abs
	}
	dir := filepath.Join(state, "run")
	if len(dir)+longest <= maxPath {
		return dir
	}
	sum := sha256.Sum256([]byte(state))
	short := fmt.Sprintf("%s%d-%s", prefix, os.Getuid(), hex.EncodeToString(sum[:6]))
	if len(filepath.Join(temp, short))+longest > maxPath {
		temp = "/tmp"
	}
	return filepath.Join(temp, short)
}

// removeEmpty removes an empty directory among the temporary files. Another process that
// is about to use it creates it again.
func removeEmpty(dir string) {
	if strings.HasPrefix(filepath.Base(dir), prefix) {
		_ = os.Remove(dir) // fails unless empty
	}
}

// prefix begins the names of directories among the temporary files.
const prefix = "mcpctl-"

// Prepare creates the directory, or checks that it is ours alone: among temporary
// files anybody could have created it.
func Prepare(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isOurs(info) {
		return fmt.Errorf("%s is not a folder of this user", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700) //nolint:gosec // a directory needs the x bit
	}
	return nil
}

func socketOf(dir string, pid int) string { return filepath.Join(dir, strconv.Itoa(pid)+suffix) }

// sockets returns the sockets in a directory by process id; none unless the
// directory is ours.
func sockets(dir string) (map[int]string, error) {
	info, err := os.Lstat(dir)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir() || !isOurs(info):
		return nil, fmt.Errorf("%s is not a folder of this user", dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok {
			if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
				out[pid] = filepath.Join(dir, e.Name())
			}
		}
	}
	return out, nil
}
