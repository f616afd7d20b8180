package generating

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// A folder that refuses to be written to has a remedy, named after its flag.
func TestWriteError(t *testing.T) {
	refused := &fs.PathError{Op: "open", Path: "out/client_gen.go", Err: fs.ErrPermission}
	err := WriteError("--record", refused)
	if got, want := hint(err), "choose another folder with --record, or allow writing to this one"; got != want || !errors.Is(err, refused) {
		t.Errorf("got %q of %v, want %q", got, err, want)
	}
	full := errors.New("no space left on device")
	if got := hint(WriteError("--out", full)); got != "" {
		t.Errorf("of another failure: got %q", got)
	}
}

func hint(err error) string {
	if e, ok := errors.AsType[*ui.Error](err); ok {
		return e.Hint()
	}
	return ""
}
