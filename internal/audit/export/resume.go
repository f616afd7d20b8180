package export

import (
	"bytes"
	"errors"
	"io"
	"os"
)

const (
	// tail is how much of the end of a file is read at first.
	tail = 256 << 10
	// mostTail is how far back the last whole line may be, or the last mark of JSON lines:
	// a checkpoint comes every thousand records.
	mostTail = 256 << 20
)

// ErrForeign is that a file is no export of the form that is asked for. Nothing of it was
// changed.
var ErrForeign = errors.New("not an export of this form")

// Resume cuts off what was not written whole at the end of an export, and returns how long
// it is then. It gives parse the last bytes of the file, which begin with a line; all says
// that they are the whole file. parse returns how many of them are whole lines, and whether
// it knows from them where the export goes on; else it gets more. An error of parse, or
// [ErrForeign] where it knows nothing of the whole file, leaves the file as it is.
func Resume(f *os.File, parse func(raw []byte, all bool) (used int, ok bool, err error)) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size = info.Size()
	for length := int64(tail); ; length *= 4 {
		from := max(size-length, 0)
		raw := make([]byte, size-from)
		if _, err := f.ReadAt(raw, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if from > 0 { // a line that began before
			cut := bytes.IndexByte(raw, '\n') + 1
			raw, from = raw[cut:], from+int64(cut)
		}
		used, ok, err := parse(raw, from == 0)
		switch {
		case err != nil:
			return 0, err
		case ok && from+int64(used) == size:
			return size, nil
		case ok:
			size = from + int64(used)
			return size, os.Truncate(f.Name(), size) // Windows cuts off no file that is open to append
		case from == 0, length > mostTail:
			return 0, ErrForeign
		}
	}
}
