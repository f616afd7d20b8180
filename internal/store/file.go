package store

import (
	"context"
	"io/fs"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// WriteFile replaces the file at path atomically: a reader, or a crash, sees the
// old bytes or the new ones. An existing file keeps its mode, a new one gets perm,
// without what the umask takes away. A symbolic link stays, its target changes. Missing directories are created, for
// their owner only.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return atomicfile.Write(path, data, perm)
}

// WriteUnsynced is WriteFile without waiting for the disk: if the machine loses power soon
// after, the file may be empty or not there. It is for what can be found out again.
func WriteUnsynced(path string, data []byte, perm fs.FileMode) error {
	return atomicfile.WriteUnsynced(path, data, perm)
}

// ReadFile returns the bytes of the regular file at path, also through symbolic
// links. Anything else (a named pipe, a device, a directory) is refused without
// waiting, and so is a file of more than most bytes. Errors are of type
// [*fs.PathError]; those of a refusal offer Hint() string.
func ReadFile(path string, most int64) ([]byte, error) {
	return atomicfile.Read(path, most)
}

// Unchanged reports whether a file is as it was, by what the system said of it then and
// says now. Nil is a file that is not there.
func Unchanged(before, now fs.FileInfo) bool { return atomicfile.Unchanged(before, now) }

// Lock takes the lock file at path, which is made with its folder where there is none,
// and stays. It waits for within at most: the error is then
// [context.DeadlineExceeded], or that of ctx. The system releases the lock if the
// process ends.
func Lock(ctx context.Context, path string, within time.Duration) (unlock func(), err error) {
	return atomicfile.Lock(ctx, path, within)
}
