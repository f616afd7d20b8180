package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
)

// peersDir is the module, and the npm package, that pins the generators that
// ours is compared with.
const peersDir = "test/codegen/peers"

// peer is a generator that takes one schema and writes one type and those
// inside it.
type peer struct {
	Name string
	// Version as its registry has it.
	Version string
	// root is the name of the type of the whole schema.
	root string
	// generate writes NAME/root.go for each NAME/root.json below a directory,
	// where it can.
	generate func(ctx context.Context, dir string, names []string) error
}

// peers are the generators, versions as they are pinned.
func peers(ctx context.Context, root string) ([]peer, error) {
	at := filepath.Join(root, filepath.FromSlash(peersDir))
	version, err := output(ctx, at, "go", "list", "-m", "-f", "{{.Version}}", "github.com/atombender/go-jsonschema")
	if err != nil {
		return nil, err
	}
	var pkg struct{ Dependencies map[string]string }
	data, err := os.ReadFile(filepath.Join(at, "package.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &pkg); err != nil {
		return nil, err
	}
	return []peer{
		{"go-jsonschema", strings.TrimPrefix(version, "v"), "RootJson", goJSONSchema(at)},
		{"quicktype", pkg.Dependencies["quicktype"], "Root", quicktype(at)},
	}, nil
}

func goJSONSchema(at string) func(context.Context, string, []string) error {
	return func(ctx context.Context, dir string, names []string) error {
		exe := filepath.Join(dir, "go-jsonschema.exe")
		if _, err := output(ctx, at, "go", "build", "-o", exe, "github.com/atombender/go-jsonschema"); err != nil {
			return err
		}
		for _, name := range names {
			// A schema that leads to itself keeps it busy until memory ends.
			limited, cancel := context.WithTimeout(ctx, 20*time.Second)
			cmd := exec.CommandContext(limited, exe, "-p", name, "-o", filepath.Join(dir, name, "root.go"), filepath.Join(dir, name, "root.json"))
			cmd.Env = append(os.Environ(), "GOMEMLIMIT=512MiB")
			out, err := cmd.CombinedOutput()
			cancel()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				if err := os.WriteFile(filepath.Join(dir, name, "error.txt"), out, 0o600); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func quicktype(at string) func(context.Context, string, []string) error {
	return func(ctx context.Context, dir string, _ []string) error {
		_, err := output(ctx, at, "node", "quicktype.cjs", dir)
		return err
	}
}

// output is what a program prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, head(stderr.String(), 20))
	}
	return strings.TrimSpace(string(out)), nil
}

// peerProgram generates code for schemas, each a package named by its key, and
// compiles it into one program. refused and broken are the names for which no
// code was written, and whose code does not compile, with the reasons.
func peerProgram(ctx context.Context, g peer, root, work string, schemas map[string]json.RawMessage) (p *program, refused, broken map[string]string, err error) {
	dir := filepath.Join(work, "schemas")
	var names []string
	for name, raw := range schemas {
		names = append(names, name)
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, nil, nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name, "root.json"), raw, 0o600); err != nil {
			return nil, nil, nil, err
		}
	}
	slices.Sort(names)
	if err := g.generate(ctx, dir, names); err != nil {
		return nil, nil, nil, err
	}
	p = newProgram("github.com/mcpctl/mcpctl/"+peersDir, filepath.Join(root, filepath.FromSlash(peersDir)), work)
	refused, broken = map[string]string{}, map[string]string{}
	for _, name := range names {
		source, err := os.ReadFile(filepath.Join(dir, name, "root.go"))
		if err != nil || len(bytes.TrimSpace(source)) == 0 {
			why, _ := os.ReadFile(filepath.Join(dir, name, "error.txt"))
			refused[name] = strings.TrimSpace(string(why))
			continue
		}
		if why := unusable(source, g.root); why != "" {
			broken[name] = why
			continue
		}
		p.add(name+"/root.go", source)
		p.subject(name, goType{name, g.root})
	}
	// What does not compile is taken out, until the rest does.
	for range 5 {
		overlay, err := p.overlay()
		if err != nil {
			return nil, nil, nil, err
		}
		args := []string{"build", overlay, "-gcflags=" + p.importPath("") + "/...=-N -l"}
		for _, pkg := range p.packages() {
			args = append(args, "./"+folder+"/"+pkg)
		}
		out, err := p.gocmd(ctx, args...)
		if err == nil {
			return p, refused, broken, nil
		}
		found := false
		for line := range strings.Lines(out) {
			if at, ok := strings.CutPrefix(strings.TrimSpace(line), "# "+p.importPath("")+"/"); ok {
				found = true
				broken[at] = strings.TrimSpace(out[strings.Index(out, line):])
				broken[at], _, _ = strings.Cut(broken[at], "\n# ")
				p.drop(at)
			}
		}
		if !found {
			return nil, nil, nil, fmt.Errorf("compile what %s generated: %w\n%s", g.Name, err, head(out, 20))
		}
	}
	return nil, nil, nil, errors.New("compile what " + g.Name + " generated: packages keep failing")
}

// unusable returns why a source cannot be part of a program, "" where it can.
func unusable(source []byte, root string) string {
	file, err := parser.ParseFile(token.NewFileSet(), "root.go", source, 0)
	if err != nil {
		return err.Error()
	}
	for _, imp := range file.Imports {
		at, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			return err.Error()
		}
		first, _, _ := strings.Cut(at, "/")
		if strings.Contains(first, ".") && !strings.HasPrefix(at, "github.com/atombender/go-jsonschema/") && at != "github.com/go-viper/mapstructure/v2" {
			return "imports " + at
		}
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if t, ok := s.(*ast.TypeSpec); ok && t.Name.Name == root {
					return ""
				}
			}
		}
	}
	return "declares no type " + root
}

// checkPeer tries a peer with every case of both drafts, as members of
// arguments.
func checkPeer(ctx context.Context, g peer, s *suite.Suite, root string) ([]judged, error) {
	work, err := os.MkdirTemp("", "mcpctl-codegen-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	schemas := map[string]json.RawMessage{}
	name := func(g suite.Group, i int) string {
		return fmt.Sprintf("%s%03d", strings.ReplaceAll(string(g.Draft), "-", "x"), i)
	}
	var all []judged
	for _, draft := range suite.Drafts() {
		groups, err := s.Groups(draft)
		if err != nil {
			return nil, err
		}
		for i, g := range groups {
			if schemas[name(g, i)], err = g.Wrap(true); err != nil {
				return nil, err
			}
		}
	}
	p, refused, broken, err := peerProgram(ctx, g, root, work, schemas)
	if err != nil {
		return nil, err
	}
	exe, err := p.build(ctx)
	if err != nil {
		return nil, err
	}
	for _, draft := range suite.Drafts() {
		groups, err := s.Groups(draft)
		if err != nil {
			return nil, err
		}
		j := newJudged(draft, inArguments, groups)
		var questions []question
		for i, g := range groups {
			for _, c := range g.Cases {
				questions = append(questions, question{name(g, i), suite.Instance(c.Data)})
			}
		}
		replies, err := ask(ctx, p, exe, questions)
		if err != nil {
			return nil, err
		}
		n := 0
		for i, g := range groups {
			_, no := refused[name(g, i)]
			_, bad := broken[name(g, i)]
			switch {
			case no:
				j.note(g, func(t *tally) { t.NoCode++ })
			case bad:
				j.note(g, func(t *tally) { t.NoCompile++ })
			case isRaw(replies[n].Raw):
				j.note(g, func(t *tally) { t.Raw++ })
			}
			for _, c := range g.Cases {
				j.count(g, c, questions[n].Data, replies[n])
				n++
			}
		}
		all = append(all, *j)
	}
	return all, nil
}

// ask runs the program with the questions that it has types for; the replies
// to others say that there is none.
func ask(ctx context.Context, p *program, exe string, questions []question) ([]reply, error) {
	var known []question
	for _, q := range questions {
		if _, ok := p.subjects[q.Key]; ok {
			known = append(known, q)
		}
	}
	answers, err := run(ctx, exe, known)
	if err != nil {
		return nil, err
	}
	replies := make([]reply, len(questions))
	for i, q := range questions {
		if _, ok := p.subjects[q.Key]; !ok {
			replies[i] = reply{Key: q.Key, Missing: true}
			continue
		}
		replies[i], answers = answers[0], answers[1:]
	}
	return replies, nil
}

// peerFields counts the fields of what a peer makes of the arguments and
// results of servers.
func peerFields(ctx context.Context, g peer, root string, servers []server) (fields, error) {
	var f fields
	work, err := os.MkdirTemp("", "mcpctl-codegen-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(work)
	var names []string
	for _, s := range servers {
		for _, t := range s.List.Tools {
			for _, raw := range []json.RawMessage{t.InputSchema, t.OutputSchema} {
				if len(raw) == 0 {
					continue
				}
				name := fmt.Sprintf("s%03d", len(names))
				names = append(names, name)
				if err := os.MkdirAll(filepath.Join(work, name), 0o700); err != nil {
					return f, err
				}
				if err := os.WriteFile(filepath.Join(work, name, "root.json"), raw, 0o600); err != nil {
					return f, err
				}
			}
		}
	}
	if err := g.generate(ctx, work, names); err != nil {
		return f, err
	}
	for _, name := range names {
		f.Schemas++
		data, err := os.ReadFile(filepath.Join(work, name, "root.go"))
		if err != nil {
			f.Failed++
			continue
		}
		read, err := readSource(name, data)
		if err != nil {
			f.Failed++
			continue
		}
		f.Fields += read.Fields
		f.Untyped += len(read.Untyped)
	}
	return f, nil
}
