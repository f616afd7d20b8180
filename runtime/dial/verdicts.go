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

// maxVerdicts bounds a file of verdicts; the oldest go first.
const maxVerdicts = 1000

// maxVerdictFile is its greatest size in bytes; a verdict takes some 200.
const maxVerdictFile = 4 << 20

// NewVerdicts keeps what is found out about the eras of servers in a JSON file,
// for the processes to come. The file is made when there is something to keep.
// It holds digests in place of commands, URLs and credentials. One that cannot
// be read or written is as good as none: servers are asked again. Of two
// processes that write at once, one loses what it has found. Path "" keeps
// nothing beyond this process.
func NewVerdicts(path string, logger *slog.Logger) bridge.Verdicts {
	if path == "" {
		return &bridge.Memory{}
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &verdictFile{path: path, log: logger}
}

type verdictFile struct {
	path string
	log  *slog.Logger
	mu   sync.Mutex // one change of the file at a time
}

// verdicts is the file's form.
type verdicts struct {
	Version int                       `json:"version"` // 1
	Servers map[string]bridge.Verdict `json:"servers"`
}

func (f *verdictFile) read() verdicts {
	var v verdicts
	raw, err := store.ReadFile(f.path, maxVerdictFile)
	if err != nil || json.Unmarshal(raw, &v) != nil || v.Version != 1 {
		return verdicts{}
	}
	return v
}

// Verdict implements [bridge.Verdicts].
func (f *verdictFile) Verdict(key string) bridge.Verdict { return f.read().Servers[key] }

// Keep implements [bridge.Verdicts].
func (f *verdictFile) Keep(key string, verdict bridge.Verdict) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.read()
	if v.Version = 1; v.Servers == nil {
		v.Servers = map[string]bridge.Verdict{}
	}
	v.Servers[key] = verdict
	if verdict == (bridge.Verdict{}) {
		delete(v.Servers, key)
	}
	for len(v.Servers) > maxVerdicts {
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

func oldest(all map[string]bridge.Verdict) string {
	return slices.MinFunc(slices.Collect(maps.Keys(all)), func(a, b string) int { return all[a].Found.Compare(all[b].Found) })
}

// key names the server of an expanded entry among verdicts: a digest of what
// decides which server is reached, and as whom.
func (d *dialer) key() string {
	h := sha256.New()
	part := func(texts ...string) {
		for _, text := range texts {
			_, _ = io.WriteString(h, text) // a digest takes everything
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
