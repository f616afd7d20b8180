package atomicfile

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read returns the bytes of the regular file at path. A symbolic link is
// followed. Anything else at the path (a named pipe, a device, a socket, a
// directory) is refused at once and never waited for, and so is a file of more
// than most bytes. Errors are of type [*fs.PathError]; those of a refusal offer
// Hint() string.
func Read(path string, most int64) ([]byte, error) {
	// Opening a device may act on it, and opening a pipe wakes its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := Regular(path, info); err != nil {
		return nil, err
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	// The size is no bound: a file may grow, and those of /proc have none.
	if _, err := b.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > most {
		why := refusal{"it is larger than " + size(most), "make it smaller, or move it away"}
		return nil, &fs.PathError{Op: "read", Path: path, Err: why}
	}
	return b.Bytes(), nil
}

// open opens a regular file without waiting. It looks at what it has opened:
// the path may lead elsewhere by now.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = Regular(path, info)
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, err
	}
	return f, nil
}

// Regular returns nil for a regular file, and an error like those of [Read]
// for anything else.
func Regular(path string, info fs.FileInfo) error {
	kind := "something else"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	why := refusal{"it is " + kind + ", not a regular file", "move it away, or put a regular file in its place"}
	return &fs.PathError{Op: "read", Path: path, Err: why}
}

// refusal is why a file is not read.
type refusal struct{ why, remedy string }

func (r refusal) Error() string { return r.why }

// Hint returns what mends it.
func (r refusal) Hint() string { return r.remedy }

func size(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
