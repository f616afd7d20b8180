package find

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

const (
	// maxFile bounds a stored list, in bytes; a longer one is not stored.
	maxFile = 64 << 20
	// pruneAfter is how long a list is kept that nobody asks for again.
	pruneAfter = 90 * 24 * time.Hour
)

// KnownLists are the stored lists of the servers of one configuration.
type KnownLists struct {
	// Filter returns what of a stored list is shown; nil: all of it.
	Filter func(server config.Entry, kind string, items []json.RawMessage) []json.RawMessage

	dir   string // "" stores nothing
	scope string
	log   *slog.Logger
}

// NewKnown returns the lists of the servers of a configuration file. stateDir may be "": then
// nothing is stored.
func NewKnown(stateDir, configPath string, log *slog.Logger) KnownLists {
	if abs, err := filepath.Abs(configPath); err == nil {
		configPath = abs
	}
	return KnownLists{dir: stateDir, scope: configPath, log: log}
}

// Listed is one list of one server: its entries as the server sent them, and when.
type Listed struct {
	Items []json.RawMessage
	At    time.Time
}

// file is the form of a stored list. Its time is that of the file. Digest is that of how the
// server is reached: a list counts for as long as the same is run.
type file struct {
	Digest string            `json:"digest"`
	Items  []json.RawMessage `json:"items"`
}

// Keep stores a list that a server has just sent. kind is the member that holds the list
// in a result: tools, prompts, resources or resourceTemplates. A failure is logged: no
// command depends on it.
func (l KnownLists) Keep(server config.Entry, kind string, items []json.RawMessage) {
	if l.dir == "" {
		return
	}
	if items == nil {
		items = []json.RawMessage{}
	}
	raw, err := json.Marshal(file{server.Connection(), items})
	if err != nil || len(raw) > maxFile {
		l.log.Debug("list is not stored", "server", server.Name, "bytes", len(raw), "err", err)
		return
	}
	path := l.path(server.Name, kind)
	if old, err := atomicfile.Read(path, maxFile); err == nil && bytes.Equal(old, raw) {
		now := time.Now()
		if os.Chtimes(path, now, now) == nil {
			return
		}
	}
	if err := atomicfile.Write(path, raw, 0o600); err != nil {
		l.log.Debug("list is not stored", "server", server.Name, "err", err)
	}
	l.prune()
}

// prune deletes lists of servers that are used no longer.
func (l KnownLists) prune() {
	files, err := os.ReadDir(filepath.Join(l.dir, "lists"))
	if err != nil {
		return
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > pruneAfter {
			_ = os.Remove(filepath.Join(l.dir, "lists", f.Name()))
		}
	}
}

// Load returns a list of each of some servers, by name: the newest that is stored. Servers
// without one, or whose entry has changed since, are absent.
func (l KnownLists) Load(ctx context.Context, servers []config.Entry, kind string) map[string]Listed {
	out := map[string]Listed{}
	if l.dir == "" {
		return out
	}
	for _, e := range servers {
		if listed, ok := l.read(e, kind); ok {
			out[e.Name] = listed
		}
	}
	for name, listed := range l.stored(ctx, servers, kind) {
		if listed.At.After(out[name].At) {
			out[name] = listed
		}
	}
	for _, e := range servers {
		if listed, ok := out[e.Name]; ok {
			out[e.Name] = l.filtered(e, kind, listed)
		}
	}
	return out
}

func (l KnownLists) filtered(server config.Entry, kind string, listed Listed) Listed {
	if l.Filter != nil {
		listed.Items = l.Filter(server, kind, listed.Items)
	}
	return listed
}

// read reads a list with the decoder that takes a third of the time, and everything that
// servers send.
func (l KnownLists) read(server config.Entry, kind string) (Listed, bool) {
	path := l.path(server.Name, kind)
	info, err := os.Stat(path)
	if err != nil {
		return Listed{}, false
	}
	raw, err := atomicfile.Read(path, maxFile)
	var f struct {
		Digest string           `json:"digest"`
		Items  []jsontext.Value `json:"items"`
	}
	if err != nil || jsonv2.Unmarshal(raw, &f, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil || f.Digest != server.Connection() {
		return Listed{}, false
	}
	items := make([]json.RawMessage, len(f.Items))
	for i, item := range f.Items {
		items[i] = json.RawMessage(item)
	}
	return Listed{items, info.ModTime()}, true
}

// OfCommands returns the lists that commands have stored of a server, by kind; nil for none.
func (l KnownLists) OfCommands(server config.Entry) map[string][]json.RawMessage {
	if l.dir == "" {
		return nil
	}
	var all map[string][]json.RawMessage
	for list := range lockfile.Lists {
		if listed, ok := l.read(server, list.Member()); ok {
			if all == nil {
				all = map[string][]json.RawMessage{}
			}
			all[list.Member()] = listed.Items
		}
	}
	return all
}

// stored returns the lists that serve has stored.
func (l KnownLists) stored(ctx context.Context, servers []config.Entry, kind string) map[string]Listed {
	out := map[string]Listed{}
	for name, r := range l.records(ctx, servers) {
		if items, ok := proxy.StoredList(r.Catalog.Data, kind); ok {
			out[name] = Listed{items, r.Catalog.Verified}
		}
	}
	return out
}

// KnownResults are the sizes of the results of a server's tools, in bytes.
type KnownResults struct {
	// Calls is of how many calls; half of their results were not larger than P50, and 99 %
	// not larger than P99.
	Calls    uint64
	P50, P99 int
}

// Results returns how large the results were that serve has had of servers, by name.
// Servers without any are absent.
func (l KnownLists) Results(ctx context.Context, servers []config.Entry) map[string]KnownResults {
	out := map[string]KnownResults{}
	for name, r := range l.records(ctx, servers) {
		if n, p50, p99 := proxy.StoredResults(r.Usage.Results); n > 0 {
			out[name] = KnownResults{n, p50, p99}
		}
	}
	return out
}

// records returns what serve has stored of servers, by name.
func (l KnownLists) records(ctx context.Context, servers []config.Entry) map[string]store.Record {
	if l.dir == "" {
		return nil
	}
	path := filepath.Join(l.dir, "mcpctl.db")
	if _, err := os.Stat(path); err != nil {
		return nil // and none is made for this
	}
	db := store.Open(path, store.Options{Scope: l.scope, Logger: l.log})
	defer func() { _ = db.Close() }()
	var ids []store.ID
	for _, e := range servers {
		ids = append(ids, store.ID{Name: e.Name, Digest: e.Digest()})
	}
	records, err := db.Load(ctx, ids)
	if err != nil {
		l.log.Debug("what serve has stored cannot be read", "err", err)
		return nil
	}
	return records
}

// path returns the file of a list. Its name is a hash: two configurations may have a
// server of the same name, and a name is none of a file.
func (l KnownLists) path(server, kind string) string {
	sum := sha256.Sum256([]byte(l.scope + "\x00" + server))
	return filepath.Join(l.dir, "lists", hex.EncodeToString(sum[:12])+"-"+kind+".json")
}
