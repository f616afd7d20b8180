package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// server is what a real server lists.
type server struct {
	Name string // of its package
	What string // for the report
	List *gogen.List
}

// corpusServer is one server's row of the report.
type corpusServer struct {
	Name, What string
	Tools      int
	Schemas    int // of arguments and results
	Files      int
	Lines      int
	Exported   int
	Fields     int
	Untyped    []string
	// What is wrong; nothing is what is wanted.
	Compile, Vet, Staticcheck string
	Unformatted, Undocumented []string
}

// githubServer is the corpus that may lie beside the checkout, nil where it
// does not.
func githubServer(dir string) (*server, error) {
	data, err := os.ReadFile(filepath.Join(dir, "github-mcp-server.tools.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := gogen.ParseTools(data)
	if err != nil {
		return nil, err
	}
	return &server{"github", "github-mcp-server, a tools/list result", list}, nil
}

// collectedServers are the servers of LiveMCPBench, whose tools somebody has collected with
// their schemas in full. They may lie beside the checkout; none where they do not.
func collectedServers(dir string) ([]server, error) {
	data, err := os.ReadFile(filepath.Join(dir, "..", "tool-corpus", "tools.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tools := map[string][]json.RawMessage{}
	for line := range bytes.Lines(data) {
		var of struct{ Server, Source string }
		if err := json.Unmarshal(line, &of); err != nil {
			return nil, err
		}
		if of.Source == "LiveMCPTool" {
			tools[of.Server] = append(tools[of.Server], line)
		}
	}
	var all []server
	for i, name := range slices.Sorted(maps.Keys(tools)) {
		list, err := json.Marshal(map[string]any{"tools": tools[name]})
		if err != nil {
			return nil, err
		}
		parsed, err := gogen.ParseTools(list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, server{fmt.Sprintf("collected%d", i+1), name, parsed})
	}
	return all, nil
}

// checkCorpus generates a package for each server and looks at it as a
// reviewer and his tools do. staticcheck is the program's path, "" to do
// without.
func checkCorpus(ctx context.Context, root, staticcheck string, servers []server) ([]corpusServer, error) {
	b, err := newBench(root)
	if err != nil {
		return nil, err
	}
	defer b.close()
	var all []corpusServer
	for _, s := range servers {
		c := corpusServer{Name: s.Name, What: s.What, Tools: len(s.List.Tools), Schemas: countSchemas(s.List.Tools)}
		in := input(s)
		out, err := gogen.Generate(in)
		if err != nil {
			return nil, fmt.Errorf("generate %s: %w", s.Name, err)
		}
		documented := map[string]bool{}
		for _, f := range out.Files {
			name := path.Join(s.Name, f.Name)
			if err := b.write(name, f.Data); err != nil {
				return nil, err
			}
			if !strings.HasSuffix(name, ".go") {
				continue
			}
			read, err := readSource(name, f.Data)
			if err != nil {
				c.Compile = err.Error()
				continue
			}
			c.Files++
			c.Lines += strings.Count(string(f.Data), "\n")
			documented[path.Dir(name)] = documented[path.Dir(name)] || read.Package
			c.Exported += read.Exported
			c.Fields += read.Fields
			c.Untyped = append(c.Untyped, read.Untyped...)
			c.Undocumented = append(c.Undocumented, read.Undocumented...)
			if read.Unformatted {
				c.Unformatted = append(c.Unformatted, name)
			}
		}
		for _, dir := range slices.Sorted(maps.Keys(documented)) {
			if !documented[dir] {
				c.Undocumented = append(c.Undocumented, "package "+dir)
			}
		}
		all = append(all, c)
	}
	clean := b.complaints(ctx, "go", "build", "./...") == "" && b.complaints(ctx, "go", "vet", "./...") == "" &&
		(staticcheck == "" || b.complaints(ctx, staticcheck, "./...") == "")
	for i := range all {
		if clean {
			break // nothing is to be said of any
		}
		c := &all[i]
		at := "./" + c.Name + "/..."
		if c.Compile == "" {
			c.Compile = b.complaints(ctx, "go", "build", at)
		}
		c.Vet = b.complaints(ctx, "go", "vet", at)
		if staticcheck != "" {
			c.Staticcheck = b.complaints(ctx, staticcheck, at)
		}
	}
	return all, nil
}

// input is all that is known of a server, test double included.
func input(s server) gogen.Input {
	return gogen.Input{
		Server: s.Name, Package: s.Name, Implementation: s.List.Implementation, Protocol: s.List.Protocol,
		Tools: s.List.Tools, Prompts: s.List.Prompts, Resources: s.List.Resources, Templates: s.List.Templates,
		ImportPath: benchModule + "/" + s.Name,
	}
}

func countSchemas(tools []runtime.Tool) int {
	n := 0
	for _, t := range tools {
		for _, raw := range []json.RawMessage{t.InputSchema, t.OutputSchema} {
			if len(raw) > 0 {
				n++
			}
		}
	}
	return n
}

// together returns what all rows have together.
func together(all []corpusServer) (total corpusServer) {
	for _, c := range all {
		total.Tools += c.Tools
		total.Schemas += c.Schemas
		total.Lines += c.Lines
		total.Exported += c.Exported
		total.Fields += c.Fields
		total.Untyped = append(total.Untyped, c.Untyped...)
		total.Undocumented = append(total.Undocumented, c.Undocumented...)
	}
	return total
}
