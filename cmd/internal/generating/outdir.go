package generating

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// What happened to a generated file, or with --check would.
const (
	Unchanged = "unchanged"
	Written   = "written"
	Removed   = "removed"
	Missing   = "missing" // --check: not there
	Stale     = "stale"   // --check: other content
	Extra     = "extra"   // --check: no longer generated
)

// maxGenerated is the greatest size, in bytes, of a file in a generated package.
const maxGenerated = 64 << 20

// OutputFile is one file in the JSON answer of generate.
type OutputFile struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

// OutputPlan compares a generated package with what is on disk.
type OutputPlan struct {
	dir   string
	files []plannedFile
}

type plannedFile struct {
	path   string
	data   []byte
	status string // in terms of --check
}

// Compare reads the directories of the package and of its test double. A file to
// replace that mcpctl did not generate is an error, and so is another one that would
// not compile with the package.
func Compare(dir, pkg string, files []gogen.File) (*OutputPlan, error) {
	p := &OutputPlan{dir: dir}
	wanted := map[string]bool{}
	for _, file := range files {
		wanted[file.Name] = true
		f := plannedFile{path: filepath.Join(dir, filepath.FromSlash(file.Name)), data: file.Data}
		old, err := atomicfile.Read(f.path, maxGenerated)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.status = Missing
		case err != nil:
			return nil, err
		case bytes.Equal(unixLines(old), file.Data):
			f.status = Unchanged
		case !ours(file.Name, old):
			e := &ui.Error{Err: fmt.Errorf("%s is not a file that mcpctl generated", f.path)}
			return nil, e.WithHint("choose another folder with --out, or move the file away")
		default:
			f.status = Stale
		}
		p.files = append(p.files, f)
	}
	folders, err := doubles(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if folder := path.Dir(file.Name); folder != "." && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	for _, folder := range append([]string{""}, folders...) {
		if err := p.scan(folder, pkg, files, wanted); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// CheckFolder refuses a file where a directory is to be, before connecting or
// writing.
func CheckFolder(flag, dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return nil
		case err == nil:
			return (&ui.Error{Err: fmt.Errorf("%s is a file, not a folder", at)}).WithHint("choose a folder with %s, or move the file away", flag)
		case filepath.Dir(at) == at:
			return nil // writing reports the error
		}
	}
}

// WriteError adds a remedy if a directory is not writable.
func WriteError(flag string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return (&ui.Error{Err: err}).WithHint("choose another folder with %s, or allow writing to this one", flag)
	}
	return err
}

// doubles returns the directories of test doubles in dir: those named …test that
// contain the file of one.
func doubles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() || !strings.HasSuffix(e.Name(), "test") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, e.Name(), gogen.DoubleFile)); err == nil {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// scan checks the Go files of one directory, "" for the package's own: generated ones
// that are no longer wanted are removed, others must compile with the package.
func (p *OutputPlan) scan(folder, pkg string, files []gogen.File, wanted map[string]bool) error {
	dir := filepath.Join(p.dir, folder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var others []goFile
	for _, e := range entries {
		if wanted[path.Join(folder, e.Name())] || !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		file := filepath.Join(dir, e.Name())
		old, err := atomicfile.Read(file, maxGenerated)
		if err != nil {
			return err
		}
		if ours(e.Name(), old) {
			p.files = append(p.files, plannedFile{path: file, status: Extra})
		} else {
			others = append(others, goFile{file, old})
		}
	}
	var own []gogen.File
	for _, file := range files {
		if strings.TrimPrefix(path.Dir(file.Name), ".") == folder {
			own = append(own, file)
		}
	}
	if folder != "" {
		pkg = folder // a double's package is named after its directory
	}
	if folder == "" || len(own) > 0 {
		return checkOthers(dir, pkg, folder != "", own, others)
	}
	return nil
}

// ReadLock reads the lock file in a directory, nil without one.
func ReadLock(dir string) (*gogen.Lock, error) {
	file := filepath.Join(dir, gogen.LockFile)
	data, err := atomicfile.Read(file, maxGenerated)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	lock, err := gogen.ParseLock(unixLines(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return lock, nil
}

// unixLines reverts line ends of a checkout on Windows; generated files have no other
// carriage returns.
func unixLines(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }

// ours reports whether mcpctl may replace a file: generated code by its first line,
// or a valid lock file.
func ours(name string, data []byte) bool {
	if name == gogen.LockFile {
		_, err := gogen.ParseLock(data)
		return err == nil
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r"))) == gogen.Header
}

// Differs reports whether a file would change.
func (p *OutputPlan) Differs() bool {
	return slices.ContainsFunc(p.files, func(f plannedFile) bool { return f.status != Unchanged })
}

// Unchanged reports whether a file exists and would not change.
func (p *OutputPlan) Unchanged(path string) bool {
	return slices.ContainsFunc(p.files, func(f plannedFile) bool { return f.path == path && f.status == Unchanged })
}

// Check returns the state of each file.
func (p *OutputPlan) Check() []OutputFile {
	out := make([]OutputFile, 0, len(p.files))
	for _, f := range p.files {
		out = append(out, OutputFile{f.path, f.status})
	}
	return out
}

// filesAtOnce is how many files are written at a time: each waits for the disk.
const filesAtOnce = 8

// Write updates the directory, the lock file last, so that after a crash --check
// still finds a difference.
func (p *OutputPlan) Write() ([]OutputFile, error) {
	out := make([]OutputFile, len(p.files))
	put := func(i int) error {
		status, err := p.put(p.files[i])
		out[i] = OutputFile{p.files[i].path, status}
		return err
	}
	var all errgroup.Group
	all.SetLimit(filesAtOnce)
	lock := filepath.Join(p.dir, gogen.LockFile)
	for i, f := range p.files {
		if f.path != lock {
			all.Go(func() error { return put(i) })
		}
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	for i, f := range p.files {
		if f.path == lock {
			return out, put(i)
		}
	}
	return out, nil
}

// put updates one file and returns what was done.
func (p *OutputPlan) put(f plannedFile) (status string, err error) {
	switch f.status {
	case Missing, Stale:
		// Source is for sharing, so directories get the usual mode.
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil { //nolint:gosec // see above
			return "", err
		}
		return Written, atomicfile.Write(f.path, f.data, 0o644)
	case Extra:
		if err := os.Remove(f.path); err != nil {
			return "", err
		}
		if dir := filepath.Dir(f.path); dir != p.dir {
			_ = os.Remove(dir) // a double's directory, if empty
		}
		return Removed, nil
	}
	return f.status, nil
}
