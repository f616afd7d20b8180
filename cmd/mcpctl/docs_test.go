package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// The documentation is held to the program: README.md and every page of docs/
// are read here, and their ```console blocks are run (docs_console_test.go). Links
// are checked on all pages of the checkout (docs_links_test.go).
//
//	```console           commands after "$ ", what they print below; run
//	```console module    the same, in a new module that requires this one
//	```sh                commands that are not run; they must parse
//	```jsonc servers.json   must pass mcpctl config validate without a warning
//	```yaml config.yaml     the same
//	```json              must be JSON
//	```go PATH           lines of that file of the checkout, which is compiled
//	```go                must parse
//
// A command line of mcpctl in any other block, or in `code` within a sentence,
// must have a known command and known flags, too.

// docBlock is one fenced block of a page.
type docBlock struct {
	page string // path below the checkout's root
	line int    // of the opening fence, from 1
	kind string // first word behind the fence
	of   string // the other words
	body []string
}

func (b *docBlock) at() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// docPages are the pages, relative to the root of the checkout.
func docPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	root := checkout()
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
			rel, relErr := filepath.Rel(root, path)
			pages, err = append(pages, filepath.ToSlash(rel)), relErr
		}
		return err
	})
	require.NoError(t, err)
	return pages
}

// reportPages are the pages that tests write.
func reportPages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(checkout(), "test", "reports", "*.md"))
	require.NoError(t, err)
	pages := make([]string, 0, len(found))
	for _, path := range found {
		pages = append(pages, "test/reports/"+filepath.Base(path))
	}
	return pages
}

func checkout() string { return filepath.Join("..", "..") }

func readPage(t *testing.T, page string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(checkout(), filepath.FromSlash(page)))
	require.NoError(t, err)
	return strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
}

// fencedBlocks takes a page apart: its blocks, and the lines outside of them.
func fencedBlocks(page string, lines []string) (blocks []*docBlock, prose []string, err error) {
	var open *docBlock
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		fence := strings.HasPrefix(text, "```")
		switch {
		case open == nil && fence:
			open = &docBlock{page: page, line: i + 1}
			open.kind, open.of, _ = strings.Cut(strings.TrimPrefix(text, "```"), " ")
		case open != nil && fence:
			blocks, open = append(blocks, open), nil
		case open != nil:
			open.body = append(open.body, line)
		default:
			prose = append(prose, line)
		}
	}
	if open != nil {
		return nil, nil, fmt.Errorf("%s: the block is not closed", open.at())
	}
	return blocks, prose, nil
}

// TestDocs checks what can be checked without running a page.
func TestDocs(t *testing.T) {
	t.Parallel()
	check := newDocChecker(t)
	for _, page := range append(docPages(t), reportPages(t)...) {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			blocks, prose, err := fencedBlocks(page, readPage(t, page))
			require.NoError(t, err)
			for _, b := range blocks {
				if err := check.block(b); err != nil {
					t.Errorf("%s: %v", b.at(), err)
				}
			}
			if err := check.sentences(prose); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		})
	}
}

// docChecker holds a configuration with the servers that the pages speak of.
type docChecker struct {
	mcpctl string
	dir    string
}

func newDocChecker(t *testing.T) *docChecker {
	t.Helper()
	mcpctl, err := exec.LookPath("mcpctl")
	require.NoError(t, err)
	c := &docChecker{mcpctl: mcpctl, dir: t.TempDir()}
	servers := map[string]any{}
	// The words in capitals stand for any server where a page gives the form
	// of a command.
	for _, name := range []string{"SERVER", "workshop", "notes", "fs", "gh", "docs", "everything", "memory", "shelf", "parcel", "room", "shop"} {
		servers[name] = map[string]string{"command": "mcpctl"}
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "servers.json"), b, 0o600))
	return c
}

// ask runs mcpctl in the checker's folder, which is alike in all of them. It does so once
// for the same words: pages say the same again.
func (c *docChecker) ask(words ...string) ([]byte, error) {
	once, _ := answers.LoadOrStore(strings.Join(words, "\x00"), sync.OnceValues(func() ([]byte, error) { return c.run(c.dir, words...) }))
	return once.(func() ([]byte, error))()
}

var answers sync.Map // of ask, by the words

// run starts mcpctl with a configuration in dir and nothing of the
// developer's environment.
func (c *docChecker) run(dir string, words ...string) ([]byte, error) {
	cmd := exec.Command(c.mcpctl, words...)
	cmd.Dir = dir
	cmd.Env = []string{"MCPCTL_HOME=" + dir, "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), noRaceSleep}
	return cmd.CombinedOutput()
}

func (c *docChecker) block(b *docBlock) error {
	body := strings.Join(b.body, "\n")
	switch b.kind + " " + b.of {
	case "json ":
		if !json.Valid([]byte(body)) {
			return errors.New("is not JSON")
		}
		return nil
	case "jsonc servers.json", "json servers.json", "yaml config.yaml":
		return c.file(b.of, body)
	}
	switch b.kind {
	case "go":
		return goBlock(b)
	case "json", "jsonc", "yaml", "":
	case "console", "sh", "text", "makefile":
	default:
		return fmt.Errorf("blocks of kind %q are not known here", b.kind)
	}
	return c.commands(joinContinued(b.body))
}

// file puts a block in the place of a file of mcpctl's and has it validated.
func (c *docChecker) file(name, body string) error {
	dir, err := os.MkdirTemp(c.dir, "file")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
		return err
	}
	out, err := c.run(dir, "config", "validate", "-o", "text")
	if err != nil || strings.Contains(string(out), "warning:") {
		return fmt.Errorf("is no sound %s: %s", name, out)
	}
	return nil
}

// goBlock wants lines of a compiled file, or else Go that parses.
func goBlock(b *docBlock) error {
	if b.of == "" {
		if _, err := format.Source([]byte(strings.Join(b.body, "\n"))); err != nil {
			return fmt.Errorf("is not Go: %w", err)
		}
		return nil
	}
	src, err := os.ReadFile(filepath.Join(checkout(), filepath.FromSlash(b.of)))
	if err != nil {
		return err
	}
	trim := func(lines []string) string {
		out := make([]string, 0, len(lines))
		for _, l := range lines {
			if l = strings.TrimSpace(l); l != "" {
				out = append(out, l)
			}
		}
		return "\n" + strings.Join(out, "\n") + "\n"
	}
	if !strings.Contains(trim(strings.Split(string(src), "\n")), trim(b.body)) {
		return fmt.Errorf("its lines are not in %s", b.of)
	}
	return nil
}

// joinContinued joins lines that end in a backslash with the next.
func joinContinued(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimPrefix(strings.TrimSpace(lines[i]), "> ")
		}
		out = append(out, line)
	}
	return out
}

// exitRE is the exit code that a page states behind a command.
var exitRE = regexp.MustCompile(`#.*\bexit (\d+)`)

var promptRE = regexp.MustCompile(`^\s*(\$ |//go:generate |(- )?run: )?`)

// commands checks every command line of mcpctl among the lines of a block.
func (c *docChecker) commands(lines []string) error {
	var errs []error
	for _, line := range lines {
		if m := exitRE.FindStringSubmatch(line); m != nil && m[1] == "2" {
			continue // wrong on purpose; running it shows how
		}
		for _, words := range shellCommands(promptRE.ReplaceAllString(line, "")) {
			errs = append(errs, c.command(words))
		}
	}
	return errors.Join(errs...)
}

var codeRE = regexp.MustCompile("`(mcpctl [^`]+)`")

// sentences checks the command lines in `code`.
func (c *docChecker) sentences(prose []string) error {
	var errs []error
	for _, line := range prose {
		for _, m := range codeRE.FindAllStringSubmatch(line, -1) {
			errs = append(errs, c.commands(m[1:]))
		}
	}
	return errors.Join(errs...)
}

// command has mcpctl itself parse a command line: with --help it looks at the
// command and at every flag, and does nothing.
func (c *docChecker) command(words []string) error {
	out, err := c.ask(append([]string{"--help"}, words...)...)
	if err != nil { // of a subcommand the flags are known behind it only
		end := slices.Index(words, "--")
		if end < 0 {
			end = len(words)
		}
		out, err = c.ask(slices.Insert(slices.Clone(words), end, "--help")...)
	}
	if err != nil {
		return fmt.Errorf("mcpctl %s: %s", strings.Join(words, " "), strings.TrimSpace(string(out)))
	}
	return nil
}

// shellCommands returns the words of each mcpctl command in a line of shell:
// at its beginning and behind operators, with quotes taken off. It knows as
// much of the shell as the pages use.
func shellCommands(line string) [][]string {
	var out [][]string
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	endCommand := func() {
		endWord()
		for len(words) > 0 && assignmentRE.MatchString(words[0]) {
			words = words[1:]
		}
		if len(words) > 1 && words[0] == "mcpctl" {
			out = append(out, words[1:])
		}
		words = nil
	}
scan:
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			endWord()
		case strings.ContainsRune("|;&()", r):
			endCommand()
		case r == '>' || r == '<':
			// A redirection's target is no argument; what stands before is whole.
			if inWord && strings.Trim(word.String(), "0123456789") == "" {
				word.Reset()
				inWord = false
			}
			endCommand()
		case r == '#' && !inWord && (i == 0 || line[i-1] == ' '):
			break scan
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	endCommand()
	return out
}

var assignmentRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// TestDocsCheck breaks a page in each way that the check is there for.
func TestDocsCheck(t *testing.T) {
	t.Parallel()
	check := newDocChecker(t)
	for _, tt := range []struct {
		name, page string
		ok         bool
	}{
		{"flag", "```sh\nmcpctl tools fs --schema\n```", true},
		{"no such flag", "```sh\nmcpctl tools fs --scheme\n```", false},
		{"no such flag, console", "```console\n$ mcpctl tools fs --scheme\n```", false},
		{"no such flag behind a pipe", "```sh\necho '{}' | mcpctl call --argsfile - fs x\n```", false},
		{"no such flag on a second line", "```sh\nmcpctl call \\\n  --no-valid fs x\n```", false},
		{"no such flag in a sentence", "Try `mcpctl list --all`.", false},
		{"no such flag in go:generate", "```go\n//go:generate mcpctl generate fs\n```\n```text\n//go:generate mcpctl generate fs --output-dir x\n```", false},
		{"no such command", "```sh\nmcpctl juggle fs\n```", false},
		{"no such server", "```sh\nmcpctl nobody echo\n```", false},
		{"behind a dash", "```sh\nmcpctl add fs -- npx --any-flag of-another\n```", true},
		{"comment", "```sh\nmcpctl list # --all is not there\n```", true},
		{"redirected", "```sh\nTOKEN=x mcpctl serve --http 127.0.0.1:8080 2>serve.log &\n```", true},
		{"json", "```json\n{\"a\":1}\n```", true},
		{"no json", "```json\n{\"a\":1,}\n```", false},
		{"servers.json", "```jsonc servers.json\n{\"mcpServers\":{\"a\":{\"command\":\"b\"},}} // fine\n```", true},
		{"wrong servers.json", "```jsonc servers.json\n{\"mcpServers\":{\"a\":{\"command\":\"b\",\"url\":\"https://c.example\"}}}\n```", false},
		{"servers.json with a warning", "```jsonc servers.json\n{\"mcpServers\":{\"a\":{\"command\":\"b\",\"arguments\":[]}}}\n```", false},
		{"config.yaml", "```yaml config.yaml\ntimeout: 2m\n```", true},
		{"wrong config.yaml", "```yaml config.yaml\ntimeouts: 2m\n```", false},
		{"go of a file", "```go cmd/mcpctl/main.go\nfunc main() {\n  os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))\n}\n```", true},
		{"go that is not in the file", "```go cmd/mcpctl/main.go\nfunc main() { os.Exit(1) }\n```", false},
		{"no go", "```go\nfunc {\n```", false},
		{"unknown kind", "```consol\n$ mcpctl list\n```", false},
		{"open block", "```sh\nmcpctl list", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			blocks, prose, err := fencedBlocks("README.md", strings.Split(tt.page, "\n"))
			for _, b := range blocks {
				err = errors.Join(err, check.block(b))
			}
			err = errors.Join(err, check.sentences(prose))
			if (err == nil) != tt.ok {
				t.Errorf("%s: got %v, want ok %t", tt.page, err, tt.ok)
			}
		})
	}
}

// helpPages returns the help texts of mcpctl and its commands, by command.
func helpPages(t *testing.T, c *docChecker) map[string]string {
	t.Helper()
	pages := map[string]string{}
	var visit func(words ...string)
	visit = func(words ...string) {
		out, err := c.ask(append([]string{"help"}, words...)...)
		if err != nil {
			t.Fatalf("mcpctl help %v: %v: %s", words, err, out)
		}
		pages[strings.Join(words, " ")] = string(out)
		if len(words) == 0 {
			if out, err = c.ask("help", "commands"); err != nil {
				t.Fatalf("mcpctl help commands: %v: %s", err, out)
			}
		}
		for _, m := range helpCommandRE.FindAllStringSubmatch(string(out), -1) {
			if m[1] != "help" && m[1] != "completion" && len(words) < 2 {
				visit(append(words, m[1])...)
			}
		}
	}
	visit()
	if len(pages) < 20 {
		t.Fatalf("the help texts name only %d commands", len(pages))
	}
	return pages
}

var (
	helpCommandRE = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}[A-Z]`)
	helpFlagRE    = regexp.MustCompile(`(?m)^ {2,6}(?:-[A-Za-z], )?(--[a-z-]+)`)
)

// TestHelp checks what the help texts say: every command has an example, and
// examples have known commands and flags.
func TestHelp(t *testing.T) {
	t.Parallel()
	c := newDocChecker(t)
	for name, text := range helpPages(t, c) {
		if name == "" {
			continue
		}
		_, rest, ok := strings.Cut(text, "\nExamples:\n")
		if !ok {
			if !strings.HasPrefix(name, "config ") {
				t.Errorf("mcpctl help %s: no example", name)
			}
			continue
		}
		examples, _, _ := strings.Cut(rest, "\n\n")
		if err := c.commands(strings.Split(examples, "\n")); err != nil {
			t.Errorf("mcpctl help %s: %v", name, err)
		}
	}
}

// TestDocsComplete finds what the pages leave out: commands, flags, settings.
func TestDocsComplete(t *testing.T) {
	t.Parallel()
	c := newDocChecker(t)
	var all strings.Builder
	for _, page := range docPages(t) {
		all.WriteString(strings.Join(readPage(t, page), "\n"))
	}
	has := func(text string) bool {
		return regexp.MustCompile(regexp.QuoteMeta(text) + `(?:[^a-z-]|$)`).MatchString(all.String())
	}
	for name, text := range helpPages(t, c) {
		if !has("mcpctl " + name) {
			t.Errorf("no page shows mcpctl %s", name)
		}
		for _, m := range helpFlagRE.FindAllStringSubmatch(text, -1) {
			if m[1] != "--version" && !has(m[1]) {
				t.Errorf("no page has the flag %s (of mcpctl %s)", m[1], name)
			}
		}
	}
	configure := strings.Join(append(readPage(t, "docs/configure.md"), readPage(t, "docs/settings.md")...), "\n")
	for _, key := range append(settings.Keys(), config.Keys()...) {
		if !strings.Contains(configure, "`"+key) {
			t.Errorf("neither docs/configure.md nor docs/settings.md says what %s is", key)
		}
	}
}
