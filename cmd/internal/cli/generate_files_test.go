package cli

import (
	"errors"
	"io/fs"
	"testing"
)

// A folder that refuses to be written to has a remedy, named after its flag.
func TestWriteError(t *testing.T) {
	refused := &fs.PathError{Op: "open", Path: "out/client_gen.go", Err: fs.ErrPermission}
	err := writeError("--record", refused)
	if got, want := hintOf(err), "choose another folder with --record, or allow writing to this one"; got != want || !errors.Is(err, refused) {
		t.Errorf("got %q of %v, want %q", got, err, want)
	}
	full := errors.New("no space left on device")
	if got := hintOf(writeError("--out", full)); got != "" {
		t.Errorf("of another failure: got %q", got)
	}
}
