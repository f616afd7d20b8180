package journal_test

import (
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// disk is what is on the disk of a machine whose power fails: what was written to a file of
// SQLite's gets there when the file is synced, and not before. It stands between SQLite and
// its own layer of files.
type disk struct {
	from, to string

	mu sync.Mutex
	// files are by the address of SQLite's own struct of them.
	files map[uintptr]*diskFile
}

type diskFile struct {
	path    string // on the disk
	methods uintptr
	waiting []change
}

// change is a write, or with nil data that the file ends there.
type change struct {
	at   int64
	data []byte
}

// theDisk is that of this process: SQLite calls functions, not methods.
var theDisk *disk

// dropUnsynced has all databases that are opened from now on write to a disk: the files of
// one folder to those of another.
func dropUnsynced(from, to string) {
	theDisk = &disk{from: from, to: to, files: make(map[uintptr]*diskFile)}
	tls := libc.NewTLS()
	vfs := sqlite3.Xsqlite3_vfs_find(tls, 0)
	own := copyOf[sqlite3.Tsqlite3_vfs](tls, vfs)
	v := at[sqlite3.Tsqlite3_vfs](own)
	realOpen = function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](v.FxOpen)
	realDelete = function[func(*libc.TLS, uintptr, uintptr, int32) int32](v.FxDelete)
	v.FxOpen, v.FxDelete = address(diskOpen), address(diskDelete)
	name, err := libc.CString("disk")
	check(err)
	v.FzName = name
	if rc := sqlite3.Xsqlite3_vfs_register(tls, own, 1); rc != 0 {
		panic(rc)
	}
}

var (
	realOpen   func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	realDelete func(*libc.TLS, uintptr, uintptr, int32) int32
)

// address returns a function as C has it.
func address(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

// function returns the function that is at an address of C's memory.
func function[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{address})) }

// copyOf returns the address of a copy of what is at an address of C's memory.
func copyOf[T any](tls *libc.TLS, address uintptr) uintptr {
	to := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*at[T](address))))
	*at[T](to) = *at[T](address)
	return to
}

// at returns what is at an address of C's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

func diskOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	rc := realOpen(tls, vfs, name, file, flags, out)
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	if rc != 0 || name == 0 || *methods == 0 {
		return rc
	}
	path, err := filepath.Rel(theDisk.from, libc.GoString(name))
	check(err)
	f := &diskFile{path: filepath.Join(theDisk.to, path), methods: *methods}
	table := copyOf[sqlite3.Tsqlite3_io_methods](tls, f.methods)
	own := at[sqlite3.Tsqlite3_io_methods](table)
	own.FxWrite, own.FxTruncate, own.FxSync, own.FxClose = address(diskWrite), address(diskTruncate), address(diskSync), address(diskClose)
	own.FiVersion = min(own.FiVersion, 2) // without memory mapped files
	theDisk.mu.Lock()
	defer theDisk.mu.Unlock()
	theDisk.files[file] = f
	*methods = table
	return rc
}

func (f *diskFile) real() *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](f.methods)
}

// fileOf returns a file; the caller must hold the lock while it changes it.
func fileOf(file uintptr) *diskFile {
	theDisk.mu.Lock()
	defer theDisk.mu.Unlock()
	return theDisk.files[file]
}

func diskWrite(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32 {
	f := fileOf(file)
	rc := function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.real().FxWrite)(tls, file, data, size, offset)
	if rc == 0 {
		f.add(change{offset, append([]byte{}, unsafe.Slice(at[byte](data), size)...)})
	}
	return rc
}

func diskTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := fileOf(file)
	rc := function[func(*libc.TLS, uintptr, int64) int32](f.real().FxTruncate)(tls, file, size)
	if rc == 0 {
		f.add(change{at: size})
	}
	return rc
}

func (f *diskFile) add(c change) {
	theDisk.mu.Lock()
	defer theDisk.mu.Unlock()
	f.waiting = append(f.waiting, c)
}

// diskSync brings the changes of a file to the disk, those that other connections have made,
// too.
func diskSync(_ *libc.TLS, file uintptr, _ int32) int32 {
	theDisk.mu.Lock()
	defer theDisk.mu.Unlock()
	path := theDisk.files[file].path
	to, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	check(err)
	defer to.Close()
	for _, f := range theDisk.files {
		if f.path != path {
			continue
		}
		for _, c := range f.waiting {
			if c.data == nil {
				check(to.Truncate(c.at))
				continue
			}
			_, err := to.WriteAt(c.data, c.at)
			check(err)
		}
		f.waiting = nil
	}
	return 0
}

func diskClose(tls *libc.TLS, file uintptr) int32 {
	f := fileOf(file)
	rc := function[func(*libc.TLS, uintptr) int32](f.real().FxClose)(tls, file)
	theDisk.mu.Lock()
	defer theDisk.mu.Unlock()
	delete(theDisk.files, file) // what was not synced is lost
	return rc
}

func diskDelete(tls *libc.TLS, vfs, name uintptr, sync int32) int32 {
	if path, err := filepath.Rel(theDisk.from, libc.GoString(name)); err == nil {
		_ = os.Remove(filepath.Join(theDisk.to, path))
	}
	return realDelete(tls, vfs, name, sync)
}
