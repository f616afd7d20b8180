package store

import "github.com/mcpctl/mcpctl/runtime/internal/atomicfile"

// ReadFile returns the bytes of the regular file at path, also through symbolic
// links. Anything else (a named pipe, a device, a directory) is refused without
// waiting, and so is a file of more than most bytes. Errors are of type
// [*fs.PathError]; those of a refusal offer Hint() string.
func ReadFile(path string, most int64) ([]byte, error) {
	return atomicfile.Read(path, most)
}
