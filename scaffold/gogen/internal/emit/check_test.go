package emit_test

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/emit"
)

// sources imports the compiled packages of emitted code and its double, once for
// all tests.
var sources = &compiled{}

type compiled struct {
	once sync.Once
	mu   sync.Mutex // guards of
	of   types.Importer
}

// Import implements types.Importer.
func (c *compiled) Import(path string) (*types.Package, error) {
	c.once.Do(c.load)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of.Import(path)
}

func (c *compiled) load() {
	const runtime = "github.com/mcpctl/mcpctl/runtime"
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		runtime+"/codegen", runtime+"/codegen/double", runtime+"/schema", "iter", "slices", "testing", "io/fs").Output()
	if err != nil {
		panic("go list: " + err.Error())
	}
	files := map[string]string{}
	for line := range bytes.Lines(out) {
		path, name, _ := strings.Cut(strings.TrimSpace(string(line)), "=")
		files[path] = name
	}
	c.of = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// check parses and type-checks what was emitted.
func check(t *testing.T, files []emit.File) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		a, err := parser.ParseFile(fset, f.Name, f.Data, parser.ParseComments)
		if err != nil {
			t.Fatalf("%s: %v\n%s", f.Name, err, f.Data)
		}
		parsed = append(parsed, a)
	}
	conf := types.Config{Importer: sources}
	pkg, err := conf.Check("example.com/sample", fset, parsed, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, files[0].Data)
	}
	return pkg
}
