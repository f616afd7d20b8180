package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
)

// tempEnd is what the names of temporary files end in.
const tempEnd = ".tmp"

// tempStart is what the names of temporary files for a path begin with; a
// number follows.
func tempStart(path string) string { return "." + filepath.Base(path) + "." }

// Sweep removes the temporary files that writers of the file at path left when
// they were killed: they may hold secrets. The caller holds the lock under
// which this file is written, so no writer is at work. Only regular files with
// a name that [Write] makes are removed. What cannot be removed stays.
func Sweep(path string) {
	path, err := Resolve(path)
	if err != nil {
		return
	}
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type().IsRegular() && isTemp(e.Name(), path) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next one tries again
		}
	}
}

// isTemp reports whether Write could have given a file this name on the way to
// path. The number has 32 bits.
func isTemp(name, path string) bool {
	number, ok := strings.CutPrefix(name, tempStart(path))
	if !ok {
		return false
	}
	number, ok = strings.CutSuffix(number, tempEnd)
	return ok && number != "" && len(number) <= len("4294967295") && strings.Trim(number, "0123456789") == ""
}
