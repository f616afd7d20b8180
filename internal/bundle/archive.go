package bundle

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// Bounds of a bundle. The largest of the public registry have about 100 MB and 20,000 files.
const (
	MaxBytes = 512 << 20 // of the archive, and of all files in it
	MaxFiles = 50_000
)

const manifestName = "manifest.json"

// check looks at the directory of an archive, before anything of it is written. Its names have
// to be those of different files below the folder that it is unpacked to.
func check(files []*zip.File) error {
	if len(files) > MaxFiles {
		return fmt.Errorf("it has %d files, and may have %d", len(files), MaxFiles)
	}
	var total uint64
	kinds := map[string]bool{} // whether a name is that of a folder, by the name in lower case
	manifest := false
	for _, f := range files {
		name := strings.TrimSuffix(f.Name, "/")
		folder := name != f.Name
		switch {
		case name == "" || strings.ContainsAny(name, "\\:\x00") || path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)):
			return fmt.Errorf("the name %q does not stay in its folder", plain.Line(f.Name))
		case f.Mode()&fs.ModeType&^fs.ModeDir != 0:
			return fmt.Errorf("%s is a link or a special file", plain.Line(f.Name))
		case folder != f.Mode().IsDir():
			return fmt.Errorf("%s is both a file and a folder", plain.Line(f.Name))
		case f.Flags&1 != 0 || f.Method != zip.Store && f.Method != zip.Deflate:
			return fmt.Errorf("%s is encrypted, or packed in a way that is not known", plain.Line(f.Name))
		}
		if before, twice := kinds[strings.ToLower(name)]; twice && !(before && folder) {
			return fmt.Errorf("%s is there twice", plain.Line(f.Name))
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if is, known := kinds[strings.ToLower(dir)]; known && !is {
				return fmt.Errorf("%s is both a file and a folder", plain.Line(dir))
			}
			kinds[strings.ToLower(dir)] = true
		}
		kinds[strings.ToLower(name)] = folder
		manifest = manifest || name == manifestName && !folder
		if total += f.UncompressedSize64; total > MaxBytes || f.UncompressedSize64 > MaxBytes {
			return fmt.Errorf("its files have more than %d MB", MaxBytes>>20)
		}
	}
	if !manifest {
		return errors.New("it has no manifest.json")
	}
	return nil
}

// unpack writes the files of an archive that was checked into a new folder. What a file has
// beyond the size that was checked is an error.
func unpack(files []*zip.File, dir string) error {
	for _, f := range files {
		to := filepath.Join(dir, filepath.FromSlash(f.Name))
		if f.Mode().IsDir() {
			if err := os.MkdirAll(to, 0o700); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := unpackFile(f, to); err != nil {
			return err
		}
	}
	return nil
}

func unpackFile(f *zip.File, to string) (err error) {
	perm := fs.FileMode(0o600)
	if f.Mode()&0o111 != 0 {
		perm = 0o700
	}
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", plain.Line(f.Name), err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, io.LimitReader(in, int64(f.UncompressedSize64)+1)) //nolint:gosec // it is below MaxBytes
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", plain.Line(f.Name), err)
	case uint64(n) != f.UncompressedSize64: //nolint:gosec // it is not negative
		return fmt.Errorf("%s has not the size that the archive says", plain.Line(f.Name))
	}
	return nil
}
