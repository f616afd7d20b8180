// Package suite reads the JSON Schema test suite (its required tests), the copy
// that travels inside the Go module github.com/google/jsonschema-go, whose
// version go.mod pins.
package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Module is where the suite is.
const Module = "github.com/google/jsonschema-go"

// Draft is one of the drafts that are judged.
type Draft string

// The drafts: the dialect of MCP and the one that most servers still declare.
const (
	Draft2020 Draft = "draft2020-12"
	Draft7    Draft = "draft7"
)

// Drafts are all of them, the default dialect first.
func Drafts() []Draft { return []Draft{Draft2020, Draft7} }

// Dialect is the value of "$schema" that declares the draft.
func (d Draft) Dialect() string {
	if d == Draft7 {
		return "http://json-schema.org/draft-07/schema#"
	}
	return "https://json-schema.org/draft/2020-12/schema"
}

// Group is a schema and the values it is tried with.
type Group struct {
	Draft       Draft           `json:"-"`
	File        string          `json:"-"` // without ".json"
	Index       int             `json:"-"` // in the file
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Cases       []Case          `json:"tests"`
}

// Name is what the group goes by in reports: file and description.
func (g Group) Name() string { return g.File + ": " + g.Description }

// Case is one value and the verdict on it.
type Case struct {
	Description string          `json:"description"`
	Data        json.RawMessage `json:"data"`
	Valid       bool            `json:"valid"`
}

// Suite is a copy of the test suite on disk.
type Suite struct {
	// Version is the module's.
	Version string
	root    string
}

// Open finds the suite in Go's module cache, where go test has put it already.
func Open() (*Suite, error) {
	cmd := exec.Command("go", "mod", "download", "-json", Module)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("find module %s: %w %s %s", Module, err, out, &stderr)
	}
	var m struct{ Dir, Version string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("find module %s: %w", Module, err)
	}
	s := &Suite{Version: m.Version, root: filepath.Join(m.Dir, "jsonschema", "testdata")}
	if _, err := os.Stat(s.root); err != nil {
		return nil, fmt.Errorf("find the test suite: %w", err)
	}
	return s, nil
}

// Groups reads a draft, file by file in the order of their names.
func (s *Suite) Groups(d Draft) ([]Group, error) {
	paths, err := filepath.Glob(filepath.Join(s.root, string(d), "*.json"))
	if err != nil {
		return nil, fmt.Errorf("read the test suite: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("read the test suite: no files of %s", d)
	}
	slices.Sort(paths)
	var all []Group
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var groups []Group
		if err := json.Unmarshal(data, &groups); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		for i, g := range groups {
			g.Draft, g.File, g.Index = d, strings.TrimSuffix(filepath.Base(path), ".json"), i
			all = append(all, g)
		}
	}
	return all, nil
}

// Remotes are the documents that the suite expects at addresses, by address.
func (s *Suite) Remotes() (map[string]json.RawMessage, error) {
	root := filepath.Join(s.root, "remotes")
	docs := map[string]json.RawMessage{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		address := "http://localhost:1234/" + filepath.ToSlash(rel)
		docs[address] = data
		if strings.HasPrefix(rel, string(Draft7)) {
			docs[address] = declare(data, Draft7)
		}
		return err
	})
	return docs, err
}

// Declared is the group's schema with the draft declared by "$schema", as the
// suite's drivers are told to treat schemas that do not; booleans stay as they
// are.
func (g Group) Declared() json.RawMessage { return declare(g.Schema, g.Draft) }

func declare(schema json.RawMessage, d Draft) json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(schema, &members); err != nil || members["$schema"] != nil {
		return schema
	}
	out := []byte(`{"$schema":"` + d.Dialect() + `"`)
	if len(members) > 0 {
		out = append(out, ',')
	}
	return append(out, bytes.TrimSpace(schema)[1:]...)
}
