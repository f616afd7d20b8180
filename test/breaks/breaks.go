package breaks

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Edit replaces text inside of one declaration: a function f, a method T.f or
// (*T).f, a type, a constant or a variable. From must be there exactly once,
// counted over all declarations of that name.
type Edit struct{ Decl, From, To string }

// placed is an edit whose place is known.
type placed struct {
	decl
	to string
}

// Broken returns the files that edits change, with the edits made, by their
// slash-separated paths below the module's top. The declarations are looked for
// in the package in a folder of the module and in those below it; "" is
// everywhere.
func (t *Tree) Broken(below string, edits ...Edit) (map[string][]byte, error) {
	if len(edits) == 0 {
		return nil, errors.New("no edits")
	}
	all := make([]placed, 0, len(edits))
	for _, e := range edits {
		at, err := t.find(below, e)
		if err != nil {
			return nil, err
		}
		all = append(all, placed{at, e.To})
	}
	if err := sorted(all); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, p := range all {
		text := out[p.file]
		if text == nil {
			text = t.files[p.file]
		}
		out[p.file] = slices.Concat(text[:p.start], []byte(p.to), text[p.end:])
	}
	return out, nil
}

// Overlay writes broken files, and a file for the -overlay flag of go build that
// puts them in place of the module's, into a folder. It returns the path of the
// latter.
func (t *Tree) Overlay(dir string, broken map[string][]byte) (string, error) {
	replace := map[string]string{}
	for file, text := range broken {
		to := filepath.Join(dir, "broken"+strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(t.root, filepath.FromSlash(file))] = to
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, raw, 0o600)
}
