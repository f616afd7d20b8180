package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	goruntime "runtime"
	"strings"

	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Files says which files are looked at.
type Files struct {
	// Path is that of servers.json, "" where it does not matter.
	Path string
	// Config is what is in it, Broken why it could not be read.
	Config *config.File
	Broken *config.Problem
	// Layers are the files that Config was read from, if there are several.
	Layers []layers.Layer
	// Tokens are the files of tokens and of what these are encrypted with. They need not
	// exist.
	Tokens []string
	// Fix mends what can be mended without harm: who may read a file.
	Fix bool
}

// Check returns what is found of the files.
func (f Files) Check() []*Report {
	if f.Path == "" {
		return []*Report{}
	}
	var reports []*Report
	for _, l := range f.Layers {
		of := f
		of.Path, of.Config = l.Path, l.File
		if l.File == nil { // it is ignored, which is a warning of the command
			continue
		}
		r := of.file()
		if l.State != layers.Used {
			r.Warn("trust", fmt.Sprintf("this file of the %s is not used: %s", l.Name, l.State), "mcpctl config trust")
		}
		reports = append(reports, r)
	}
	if len(f.Layers) == 0 {
		reports = append(reports, f.file())
	}
	for _, path := range f.Tokens {
		if _, err := os.Lstat(path); path != "" && err == nil {
			tokens := &Report{Name: path, OK: true}
			f.private(tokens, path, "it holds tokens")
			reports = append(reports, tokens)
		}
	}
	return reports
}

// file returns what is found of one servers.json.
func (f Files) file() *Report {
	r := &Report{Name: f.Path, OK: true}
	f.parse(r)
	if f.Config != nil && holdsSecrets(f.Config) {
		f.private(r, f.Path, "it holds secrets")
	}
	return r
}

// parse reports faults and warnings of the file as a whole; those of an entry are with
// its server.
func (f Files) parse(r *Report) {
	if f.Broken != nil {
		r.Fail("config", "config", f.Broken.Error(), orEdit(f.Broken.Remedy))
		return
	}
	if f.Config.Missing() {
		r.Pass("config", "there is no such file yet")
		return
	}
	for _, p := range f.Config.Faults() {
		if p.Server == "" {
			r.Fail("config", "config", p.Error(), orEdit(p.Remedy))
		}
	}
	for _, p := range f.Config.Warnings() {
		if p.Server == "" {
			r.Warn("config", p.Error(), orEdit(p.Remedy))
		}
	}
	if len(r.Checks) == 0 {
		r.Pass("config", plain.Count(len(f.Config.Entries()), "server"))
	}
}

// Settings returns what is wrong with a config.yaml.
func Settings(p *config.Problem) *Report {
	r := &Report{Name: p.File, OK: true}
	r.Fail("config", "config", p.Error(), line("mcpctl config validate", p.Remedy))
	return r
}

// Views returns what is found of the views in a config.yaml: they say something of tools and
// arguments that no server has listed, or that has no effect.
func Views(path string, missing []config.Problem) []*Report {
	if len(missing) == 0 {
		return nil
	}
	r := &Report{Name: path, OK: true}
	for _, p := range missing {
		r.Warn("views", p.Error(), line("mcpctl config validate --live", p.Remedy))
	}
	return []*Report{r}
}

// orEdit returns the command that mends servers.json.
func orEdit(remedy string) string { return line("mcpctl config edit", remedy) }

// remarkSign is between a command and a remark: a shell runs the whole line.
const remarkSign = "  # "

// line returns a command with a remark. A remedy that is a command is in its place.
func line(command, remedy string) string {
	switch {
	case remedy == "":
		return command
	case strings.HasPrefix(remedy, "mcpctl ") && !prose().MatchString(remedy):
		return remedy
	}
	return command + remarkSign + remedy
}

// prose finds what remedies say of a command that they begin with.
var prose = lazy.Regexp(` (shows|reach|prints|gives) `)

func holdsSecrets(f *config.File) bool {
	for _, e := range f.Entries() {
		if len(LiteralSecrets(e.Raw)) > 0 {
			return true
		}
	}
	return false
}

// private reports a file that other users of this machine may read or write.
func (f Files) private(r *Report, path, why string) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || goruntime.GOOS == "windows" || err == nil && !info.Mode().IsRegular() {
		return
	}
	if err != nil {
		r.Fail("mode", "config", err.Error(), "")
		return
	}
	mode := info.Mode().Perm()
	const others = 0o077
	switch {
	case mode&others == 0:
		r.Pass("mode", "no other user may read it")
	case f.Fix:
		if err := os.Chmod(path, mode&^others); err != nil {
			r.Fail("mode", "config", err.Error(), "")
			return
		}
		r.Pass("mode", fmt.Sprintf("fixed: its mode was %04o and is %04o", mode, mode&^others))
	default:
		r.Fail("mode", "config", fmt.Sprintf("other users of this machine have access (mode %04o), and %s", mode, why), "mcpctl doctor --fix")
	}
}
