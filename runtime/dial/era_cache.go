package dial

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/secret"
	"github.com/mcpctl/mcpctl/runtime/store"
)

// maxEras bounds the servers of a file; the oldest are dropped first.
const maxEras = 1000

// maxEraFile is its greatest size in bytes; a server takes about 200.
const maxEraFile = 4 << 20

// NewEraCache stores the detected eras of servers in a JSON file, for later
// processes. It holds digests in place of commands, URLs and credentials. A file
// that cannot be read or written is ignored: servers are probed again. Of two
// processes that write at once, one loses its findings. Path "" stores nothing
// beyond this process.
func NewEraCache(path string, logger *slog.Logger) bridge.EraCache {
	if path == "" {
		return &bridge.MemoryCache{}
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &eraFile{path: path, log: logger}
}

type eraFile struct {
	path string
	log  *slog.Logger
	mu   sync.Mutex // one change of the file at a time
}

// eras is the file's form.
type eras struct {
	Version int                        `json:"version"` // 1
	Servers map[string]bridge.KnownEra `json:"servers"`
}

func (f *eraFile) read() eras {
	var v eras
	raw, err := store.ReadFile(f.path, maxEraFile)
	if err != nil || json.Unmarshal(raw, &v) != nil || v.Version != 1 {
		return eras{}
	}
	return v
}

// Get implements [bridge.EraCache].
func (f *eraFile) Get(key string) bridge.KnownEra { return f.read().Servers[key] }

// Put implements [bridge.EraCache].
func (f *eraFile) Put(key string, era bridge.KnownEra) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.read()
	if v.Version = 1; v.Servers == nil {
		v.Servers = map[string]bridge.KnownEra{}
	}
	v.Servers[key] = era
	if era == (bridge.KnownEra{}) {
		delete(v.Servers, key)
	}
	for len(v.Servers) > maxEras {
		delete(v.Servers, oldest(v.Servers))
	}
	raw, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = store.WriteFile(f.path, append(raw, '\n'), 0o600)
	}
	if err != nil {
		f.log.Debug("what a server speaks cannot be remembered", "err", err)
	}
}

func oldest(all map[string]bridge.KnownEra) string {
	return slices.MinFunc(slices.Collect(maps.Keys(all)), func(a, b string) int { return all[a].Found.Compare(all[b].Found) })
}

// key returns the server's key in an [bridge.EraCache]: a digest of all that decides
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
