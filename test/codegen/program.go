package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// program is generated code and a main that decodes, encodes and validates
// values with its types. Nothing of it is written into the checkout: go build
// sees the files by way of an overlay, inside the module whose root is given,
// so that imports resolve as that module has them.
type program struct {
	module string // path of the module, "" for the judge's own
	root   string // directory of the module
	work   string // directory for the files
	files  map[string][]byte
	// subjects are the types by key.
	subjects map[string]goType
}

// goType is an exported type of a generated package.
type goType struct {
	pkg  string // its folder in the program, also its name
	name string
}

const modulePath = "github.com/mcpctl/mcpctl"

// folder is where in the module the program seems to be.
const folder = "test/codegen/program"

func newProgram(module, root, work string) *program {
	return &program{module: module, root: root, work: work, files: map[string][]byte{}, subjects: map[string]goType{}}
}

// add puts a file into the program, named from the program's folder.
func (p *program) add(name string, data []byte) { p.files[name] = data }

// subject lets a type be asked for by key.
func (p *program) subject(key string, t goType) { p.subjects[key] = t }

// drop takes a package and its types out again.
func (p *program) drop(pkg string) {
	maps.DeleteFunc(p.files, func(name string, _ []byte) bool { return strings.HasPrefix(name, pkg+"/") })
	maps.DeleteFunc(p.subjects, func(_ string, t goType) bool { return t.pkg == pkg })
}

// packages are the folders of the program's packages, sorted.
func (p *program) packages() []string {
	set := map[string]bool{}
	for name := range p.files {
		if dir := path.Dir(name); dir != "." {
			set[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func (p *program) importPath(pkg string) string { return path.Join(p.module, folder, pkg) }

// overlay writes the files and what go wants to be told of them; it returns the
// flag.
func (p *program) overlay() (string, error) {
	replace := map[string]string{}
	for name, data := range p.files {
		at := filepath.Join(p.work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(at, data, 0o600); err != nil {
			return "", err
		}
		root, err := filepath.Abs(p.root)
		if err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(folder), filepath.FromSlash(name))] = at
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	at := filepath.Join(p.work, "overlay.json")
	return "-overlay=" + at, os.WriteFile(at, data, 0o600)
}

// gocmd runs the go command in the module.
func (p *program) gocmd(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// build compiles the program and returns its path.
func (p *program) build(ctx context.Context) (string, error) {
	p.add("main.go", p.main())
	overlay, err := p.overlay()
	if err != nil {
		return "", err
	}
	exe := filepath.Join(p.work, "program.exe")
	// What runs once is not worth the optimizer's time.
	if out, err := p.gocmd(ctx, "build", overlay, "-gcflags="+p.importPath("")+"/...=-N -l", "-o", exe, "./"+folder); err != nil {
		return "", fmt.Errorf("compile what was generated: %w\n%s", err, head(out, 40))
	}
	return exe, nil
}

// main is the source of package main.
func (p *program) main() []byte {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"bufio\"\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"os\"\n\t\"reflect\"\n\t\"strings\"\n\n")
	used := map[string]bool{}
	for _, t := range p.subjects {
		used[t.pkg] = true
	}
	for _, pkg := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(&b, "\t%s %q\n", path.Base(pkg), p.importPath(pkg))
	}
	b.WriteString(")\n\nvar subjects = map[string]func([]byte) reply{\n")
	for _, key := range slices.Sorted(maps.Keys(p.subjects)) {
		t := p.subjects[key]
		fmt.Fprintf(&b, "\t%q: try[%s.%s],\n", key, path.Base(t.pkg), t.name)
	}
	b.WriteString("}\n\n" + mainText)
	return []byte(b.String())
}

const mainText = `type reply struct {
	Key                                  string
	Decode, Encode, Validate, Panic, Raw string
	Out                                  json.RawMessage
}

func try[T any](data []byte) (r reply) {
	defer func() {
		if p := recover(); p != nil {
			r.Panic = fmt.Sprint(p)
		}
	}()
	var v T
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			f := t.Field(i)
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == "v" {
				r.Raw = f.Type.String()
			}
		}
	} else {
		r.Raw = t.String()
	}
	if err := json.Unmarshal(data, &v); err != nil {
		r.Decode = err.Error()
		return r
	}
	if c, ok := any(v).(interface{ Validate() error }); ok {
		if err := c.Validate(); err != nil {
			r.Validate = err.Error()
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		r.Encode = err.Error()
		return r
	}
	r.Out = out
	return r
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	dec := json.NewDecoder(in)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for dec.More() {
		var q struct {
			Key  string
			Data []byte
		}
		if err := dec.Decode(&q); err != nil {
			panic(err)
		}
		r := subjects[q.Key](q.Data)
		r.Key = q.Key
		line, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		out.Write(append(line, '\n'))
	}
}
`

// question is one value for one type.
type question struct {
	Key  string
	Data []byte
}

// reply is what a type made of a value; "" is no error.
type reply struct {
	Key             string
	Decode, Encode  string
	Validate, Panic string
	Raw             string // the Go type of the member v
	Out             json.RawMessage
	Missing         bool // there is no such type; the program was not asked
}

// run asks the program; the replies come in the order of the questions.
func run(ctx context.Context, exe string, questions []question) ([]reply, error) {
	var in, stderr bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range questions {
		if err := enc.Encode(q); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run what was generated: %w\n%s", err, head(stderr.String(), 20))
	}
	var replies []reply
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var r reply
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		replies = append(replies, r)
	}
	if len(replies) != len(questions) {
		return nil, errors.New("run what was generated: it did not answer everything")
	}
	return replies, lines.Err()
}

// head is the first lines of a text.
func head(text string, lines int) string {
	all := strings.SplitAfter(text, "\n")
	if len(all) > lines {
		all = append(all[:lines], "…\n")
	}
	return strings.Join(all, "")
}
