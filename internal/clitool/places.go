package clitool

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// dirArg is the argument that chooses the working directory of a call.
const dirArg = "cwd"

// places are the directories that a call may run in.
type places struct {
	base  string   // where a call runs that chooses none, and what relative ones are below
	roots []string // without symbolic links; none: there is no choice
}

// newPlaces returns the places of roots. Dir is the tool's own
// working directory, "" for none.
func newPlaces(dir string, roots []string) (*places, error) {
	p := &places{base: dir}
	for _, root := range roots {
		path := root
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		real, err := realDir(path)
		if err != nil {
			return nil, &RuleError{Key: "cliRoots", Rule: root, Why: err.Error(), Remedy: "correct or remove it"}
		}
		p.roots = append(p.roots, real)
	}
	if p.base == "" && p.choice() {
		p.base = p.roots[0]
	}
	return p, nil
}

// realDir returns a directory's absolute path without symbolic links.
func realDir(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return "", errors.New("there is no such directory")
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", errors.New("it is not a directory")
	}
	return path, nil
}

// choice reports whether calls may choose.
func (p *places) choice() bool { return len(p.roots) > 0 }

// dir returns the directory that a call with these arguments runs in.
func (p *places) dir(arguments json.RawMessage) (string, error) {
	if !p.choice() {
		return p.base, nil
	}
	given, err := members(arguments)
	if err != nil {
		return "", err
	}
	value, ok := given[dirArg]
	if !ok || value == nil {
		return p.base, nil
	}
	text, ok := value.(string)
	if !ok || text == "" || strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("%s: want the path of a directory", dirArg)
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(p.base, text)
	}
	real, err := realDir(text)
	if err != nil && p.within(filepath.Clean(text)) { // outside, nobody is told what there is
		return "", fmt.Errorf("%s: %w", dirArg, err)
	}
	if err != nil || !p.within(real) {
		return "", fmt.Errorf("%s: it must be in %s", dirArg, strings.Join(p.roots, ", or in "))
	}
	return real, nil
}

// within reports whether a path is one of the roots, or below one.
func (p *places) within(path string) bool {
	for _, root := range p.roots {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// schema describes the argument.
func (p *places) schema() json.RawMessage {
	var o object
	o.add("type", "string")
	o.add("description", "The directory to run in: "+strings.Join(p.roots, ", ")+", or one below. Without it: "+p.base+".")
	return o.raw()
}
