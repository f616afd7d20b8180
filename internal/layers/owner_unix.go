//go:build unix

package layers

import (
	"io/fs"
	"os"
	"syscall"
)

// foreign reports whether a file belongs to another user than this one and the
// administrator.
func foreign(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
}
