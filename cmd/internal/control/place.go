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
	// BSDs have room for 104 bytes with a zero at the end, Linux and Windows for
	// 108.
	maxPath = 103
	// suffix is what the names of sockets end in, behind the process id.
	suffix = ".sock"
	// longest is the room that such a name takes: ids have up to ten digits.
	longest = len("/4294967295" + suffix)
)

// place gives the folder for the sockets of a state directory. temp is the
// system's place for temporary files.
func place(state, temp string) string {
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

// tidy removes a folder in the place for temporary files that holds nothing any
// more. Another process may be about to use it: it makes it anew.
func tidy(dir string) {
	if strings.HasPrefix(filepath.Base(dir), prefix) {
		_ = os.Remove(dir) // not while there is something in it
	}
}

// prefix is what the names of folders for temporary files begin with.
const prefix = "mcpctl-"

// prepare makes the folder, or finds it to be ours alone: in a place for
// temporary files anybody could have made it.
func prepare(dir string) error {
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
	if !info.IsDir() || !ours(info) {
		return fmt.Errorf("%s is not a folder of this user", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700) //nolint:gosec // a folder has to be entered
	}
	return nil
}

func socketOf(dir string, pid int) string { return filepath.Join(dir, strconv.Itoa(pid)+suffix) }

// sockets gives the sockets in a folder by process id; none where there is no
// folder of ours.
func sockets(dir string) (map[int]string, error) {
	info, err := os.Lstat(dir)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir() || !ours(info):
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
