package dial

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// maxEras bounds the servers of a file; the oldest are dropped first.
const maxEras = 1000

// maxEraFile is its greatest size in bytes; a server takes about 200.
const maxEraFile = 4 << 20

// NewEraCache stores the detected eras of servers in a JSON file, for later
// processes. It holds digests in place of commands, URLs and credentials. A file
// that cannot be read or written is ignored: servers are probed again. Of two
// processes that write at once, one loses its findings, so a process has one cache for all
// its servers. Path "" stores nothing beyond this process.
func NewEraCache(path string, logger *slog.Logger) negotiate.EraCache {
	if path == "" {
		return &negotiate.MemoryCache{}
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &eraFile{path: path, log: logger}
}

// eraFile is the file, and what it held when it was last read or written: many servers
// are looked up and found out at once.
type eraFile struct {
	path string
	log  *slog.Logger

	mu  sync.Mutex
	all eras
	as  fs.FileInfo // the file that all is of, nil before and for none
	// writing says that one Put writes, dirty that others have changed all since it began.
	writing, dirty bool
}

// eras is the file's form.
type eras struct {
	Version int                           `json:"version"` // 1
	Servers map[string]negotiate.KnownEra `json:"servers"`
}

// read reads the file if it has changed. The caller holds mu.
func (f *eraFile) read() {
	if f.writing {
		return // all is newer
	}
	now, err := os.Stat(f.path)
	if err == nil && f.as != nil && atomicfile.Unchanged(f.as, now) {
		return
	}
	f.all, f.as = eras{}, nil
	if err != nil {
		return
	}
	var v eras
	raw, err := atomicfile.Read(f.path, maxEraFile)
	if err == nil && json.Unmarshal(raw, &v) == nil && v.Version == 1 {
		f.all, f.as = v, now
	}
}

// Get implements [negotiate.EraCache].
func (f *eraFile) Get(key string) negotiate.KnownEra {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read()
	return f.all.Servers[key]
}

// Put implements [negotiate.EraCache]. What several put at once is written together.
func (f *eraFile) Put(key string, era negotiate.KnownEra) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read()
	if f.all.Servers == nil {
		f.all = eras{Version: 1, Servers: map[string]negotiate.KnownEra{}}
	}
	f.all.Servers[key] = era
	if era == (negotiate.KnownEra{}) {
		delete(f.all.Servers, key)
	}
	for len(f.all.Servers) > maxEras {
		delete(f.all.Servers, oldest(f.all.Servers))
	}
	f.dirty = true
	if f.writing {
		return
	}
	f.writing = true
	for f.dirty {
		f.dirty = false
		f.write()
	}
	f.writing = false
}

// write writes the file. The caller holds mu, which is free while the disk works.
func (f *eraFile) write() {
	raw, err := json.MarshalIndent(f.all, "", "  ")
	f.mu.Unlock()
	if err == nil {
		err = atomicfile.WriteUnsynced(f.path, append(raw, '\n'), 0o600)
	}
	now, statErr := os.Stat(f.path)
	f.mu.Lock()
	if f.as = now; err != nil || statErr != nil {
		f.as = nil
	}
	if err != nil {
		f.log.Debug("what a server speaks cannot be remembered", "err", err)
	}
}

func oldest(all map[string]negotiate.KnownEra) string {
	return slices.MinFunc(slices.Collect(maps.Keys(all)), func(a, b string) int { return all[a].Found.Compare(all[b].Found) })
}

// key returns the server's key in an [negotiate.EraCache]: a digest of all that decides
// which server is reached, and with which credentials.
func (d *dialer) key() string {
	h := sha256.New()
	part := func(texts ...string) {
		for _, text := range texts {
			_, _ = io.WriteString(h, text) // cannot fail
			_, _ = h.Write([]byte{0})
		}
	}
	pairs := func(m map[string]secret.Text) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			part(k, m[k].Reveal())
		}
	}
	if d.Entry.Transport() == config.TransportStdio {
		part("stdio", d.Command, d.Cwd)
		for _, arg := range d.Args {
			part(arg.Reveal())
		}
		part("")
		pairs(d.Env)
	} else {
		part("http", d.URL.Reveal())
		pairs(d.Headers)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
