package atomicfile

import (
	"io/fs"
	"os"
)

// Unchanged reports whether a file is as it was, by what the system said of it then and
// says now. Nil is a file that is not there.
func Unchanged(before, now fs.FileInfo) bool {
	if before == nil || now == nil {
		return before == nil && now == nil
	}
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime()) && before.Mode() == now.Mode()
}
