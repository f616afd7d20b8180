package main

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const architecture = "docs/architecture.md"

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// section returns what stands below a heading of the architecture page.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(page(t, architecture), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no heading %q", architecture, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// rows returns the cells of a section's table, without its head.
func rows(t *testing.T, heading string) [][]string {
	t.Helper()
	var out [][]string
	for line := range strings.Lines(section(t, heading)) {
		if inner, ok := strings.CutPrefix(strings.TrimSpace(line), "| "); ok {
			out = append(out, strings.Split(strings.TrimSuffix(inner, " |"), " | "))
		}
	}
	if len(out) < 2 {
		t.Fatalf("%q has no table", heading)
	}
	return out[1:] // the row of dashes has no space
}

// declared returns what a file declares: names, and Type.Method.
func declared(f source) []string {
	var out []string
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = typeName(d.Recv.List[0].Type) + "." + name
			}
			out = append(out, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	return out
}

// TestWhere opens each file that the page names for a behaviour and looks for
// the declaration.
func TestWhere(t *testing.T) {
	t.Parallel()
	files := tree(t)
	table := rows(t, "Where do I find it")
	if len(table) < 20 {
		t.Errorf("%d behaviours, want 20 or more", len(table))
	}
	for _, row := range table {
		if len(row) != 3 {
			t.Errorf("%q has %d columns, want 3", row, len(row))
			continue
		}
		file, name := strings.Trim(row[1], "`"), strings.Trim(row[2], "`")
		switch i := slices.IndexFunc(files, func(f source) bool { return f.file == file }); {
		case i < 0:
			t.Errorf("%s there is no file %s", row[0], file)
		case !slices.Contains(declared(files[i]), name):
			t.Errorf("%s %s does not declare %s", row[0], file, name)
		}
	}
}

var codeRE = regexp.MustCompile("`([^`]+)`")

// TestWalk looks for what the walk of one call names.
func TestWalk(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for _, f := range tree(t) {
		if production(f) {
			for _, d := range declared(f) {
				all[d] = true
			}
		}
	}
	named := 0
	for _, m := range codeRE.FindAllStringSubmatch(section(t, "The walk of one call"), -1) {
		_, name, ok := strings.Cut(m[1], ".")
		if !ok {
			continue // a word of the protocol
		}
		named++
		if !all[name] && !all[m[1]] {
			t.Errorf("the walk names %s, which nothing declares", m[1])
		}
	}
	if named < 5 {
		t.Errorf("the walk names %d declarations", named)
	}
}

// TestRoomMap holds the room map to the packages there are: each row's folder
// exists in its layer, and no package is in no row.
func TestRoomMap(t *testing.T) {
	t.Parallel()
	layers := map[string]string{}
	for _, row := range rows(t, "Room map") {
		if len(row) == 3 {
			layers[strings.Trim(row[1], "`")] = row[0]
		}
	}
	seen, done := map[string]bool{}, map[string]bool{}
	for _, f := range tree(t) {
		if done[f.pkg] {
			continue
		}
		done[f.pkg] = true
		room := f.pkg
		// Rooms of runtime and of the proxy have a row each; elsewhere, a row is
		// for what lies below as well.
		for layers[room] == "" && room != "." && room != "runtime" && room != strings.TrimSuffix(proxyRooms, "/") {
			room = path.Dir(room)
		}
		if layers[room] == "" || room == "runtime" && f.pkg != room || room == facade && f.pkg != room {
			t.Errorf("%s is in no row of the room map", f.pkg)
			continue
		}
		seen[room] = true
		if r, _ := find(layerTable(), f.pkg); layers[room] != strconv.Itoa(r.layer) {
			t.Errorf("the room map has %s in layer %s; it is in layer %d", room, layers[room], r.layer)
		}
	}
	for room := range layers {
		if !seen[room] {
			t.Errorf("the room map has %s, which holds no package", room)
		}
	}
}

// pathRE is a code span that looks like a path of the repository. NAME and the
// like stand for any name.
var pathRE = regexp.MustCompile("`((?:cmd|docs|generated|registry|runtime|scaffold|schemas|test|\\.ci)/[^` ]+)`")

// TestPaths looks for the files and folders that pages for contributors name.
func TestPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "CONTRIBUTING.md", architecture} {
		for _, m := range pathRE.FindAllStringSubmatch(page(t, name), -1) {
			pattern := regexp.MustCompile(`[A-Z]{3,}`).ReplaceAllString(m[1], "*")
			if strings.HasSuffix(m[1], ".md") {
				pattern = m[1]
			}
			found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
			if err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", name, m[1])
			}
		}
	}
}
