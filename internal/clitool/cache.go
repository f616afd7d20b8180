package clitool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

const (
	cacheForm = 4       // of the files; one of another form counts as none
	cacheSize = 8 << 20 // bound of one file
	cacheWait = time.Minute
)

// stamp is what one build of a program differs in from another.
type stamp struct {
	Path string
	Size int64
	Time int64 // of its last change, in nanoseconds
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{Path: path}
	}
	return stamp{path, info.Size(), info.ModTime().UnixNano()}
}

// stored is one file of the cache.
type stored struct {
	Form   int
	Stamps []stamp
	Found  Found
}

// stamps returns those of the program's file and of the files among its arguments: the
// program may be an interpreter.
func (o *Options) stamps(file string) []stamp {
	out := []stamp{stampOf(file)}
	for _, arg := range o.Program.Args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Program.Dir, arg)
		}
		if s := stampOf(path); s.Size > 0 {
			out = append(out, s)
		}
	}
	return out
}

// Discover returns what the help of the tool says, from the cache where the program is
// the one that was asked before. Processes and goroutines that ask at the same time ask
// the tool once. A tool that cannot be started, or prints no help, is a
// [*runtime.ConnectError].
func Discover(ctx context.Context, o Options) (Found, error) {
	file, err := o.Program.check()
	if err != nil {
		return Found{}, err
	}
	d := &discovery{program: &o.Program, help: strings.Fields(o.Help), depth: o.Depth}
	if o.Help == "" {
		d.help = nil
	}
	if d.depth == 0 {
		d.depth = defaultDepth
	}
	if o.Cache == "" {
		return d.discover(ctx)
	}
	stamps := o.stamps(file)
	key, err := json.Marshal([]any{file, o.Program.Args, o.Program.Dir, o.Help, d.depth})
	if err != nil {
		return Found{}, err
	}
	sum := sha256.Sum256(key)
	path := filepath.Join(o.Cache, hex.EncodeToString(sum[:16])+".json")
	if f, ok := cached(path, stamps); ok {
		return f, nil
	}
	unlock, err := atomicfile.Lock(ctx, path+".lock", cacheWait)
	if err != nil {
		return d.discover(ctx) // a directory that cannot be written to
	}
	defer unlock()
	if f, ok := cached(path, stamps); ok {
		return f, nil
	}
	f, err := d.discover(ctx)
	if err != nil {
		return f, err
	}
	text, err := json.Marshal(stored{cacheForm, stamps, f})
	if err == nil {
		err = atomicfile.Write(path, text, 0o600)
	}
	if err != nil {
		o.logger().Debug("cache of a tool's help", "err", err)
	}
	return f, nil
}

func cached(path string, stamps []stamp) (Found, bool) {
	text, err := atomicfile.Read(path, cacheSize)
	if err != nil {
		return Found{}, false
	}
	var s stored
	if json.Unmarshal(text, &s) != nil || s.Form != cacheForm || !slices.Equal(s.Stamps, stamps) {
		return Found{}, false
	}
	return s.Found, true
}
