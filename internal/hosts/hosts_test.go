package hosts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

var self = hosts.Self{Command: "mcpctl"}

func noEnv(string) string { return "" }

func place() hosts.Place {
	return hosts.Place{GOOS: "linux", Home: "/home/me", Dir: "/work/app", Getenv: noEnv}
}

// sample returns the file of a host that the tests have, and where it is.
func sample(t testing.TB, h *hosts.Host) (*hosts.Location, []byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", h.Name+".*"))
	require.NoError(t, err)
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.Contains(p, ".golden.") })
	if len(paths) != 1 {
		t.Fatalf("%s has %d samples", h.Name, len(paths))
	}
	raw, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	if all := h.Locations(place()); len(all) > 0 {
		return &all[0], raw
	}
	f, err := hosts.Open(paths[0], place())
	require.NoError(t, err)
	return f.Location, raw
}

// TestImport: what each host's sample becomes.
func TestImport(t *testing.T) {
	t.Parallel()
	for _, h := range hosts.All() {
		l, raw := sample(t, h)
		f, err := l.Read(raw)
		require.NoError(t, err)
		type result struct {
			Line  int             `json:"line"`
			Entry json.RawMessage `json:"entry,omitempty"`
			Notes []string        `json:"notes,omitempty"`
			Skip  string          `json:"skip,omitempty"`
			Own   string          `json:"own,omitempty"`
		}
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		for _, name := range f.Names() {
			in := f.Import(name, "/work/app")
			require.NoError(t, enc.Encode(map[string]result{name: {f.Line(name), in.Entry, in.Notes, in.Skip, in.Own}}))
			if in.Skip == "" {
				parsed, err := config.Parse("", fmt.Appendf(nil, `{"mcpServers":{"x":%s}}`, in.Entry))
				require.NoError(t, err)
				if faults := parsed.Faults(); len(faults) > 0 {
					t.Errorf("%s: %s is no sound entry: %v", h.Name, name, faults[0].Message)
				}
			}
		}
		golden := filepath.Join("testdata", h.Name+".golden.json")
		if *update {
			require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", h.Name, diff)
		}
	}
}

// entries makes random entries of the kinds that hosts have.
func entry(t *testing.T, r *rand.Rand) config.Entry {
	t.Helper()
	texts := []string{"a", "x y", `q"\`, "${A}", "b-${B}", "${C:-d}", "$$5", "$HOME", "{env:X}", "${{ secrets.X }}", "$${env:Y}", "é\n", "-- #", "${D-}", "Bearer ${T}"}
	pick := func() string { return texts[r.IntN(len(texts))] }
	m := map[string]any{}
	if r.IntN(2) == 0 {
		m["command"] = "npx"
		if r.IntN(2) == 0 {
			m["args"] = []string{pick(), pick()}
		}
		if r.IntN(2) == 0 {
			m["env"] = map[string]string{"A": pick(), "LOG": pick()}
		}
		if r.IntN(4) == 0 {
			m["cwd"] = pick()
		}
	} else {
		m["url"] = "https://mcp.example.com/" + []string{"mcp", "${PATH_OF}", "a%20b"}[r.IntN(3)]
		if r.IntN(2) == 0 {
			m["headers"] = map[string]string{"Authorization": pick(), "X-A": strings.ReplaceAll(pick(), "\n", "")}
		}
		if r.IntN(4) == 0 {
			m["type"] = "sse"
		}
		if r.IntN(6) == 0 {
			m["auth"] = map[string]any{"clientId": "x"}
		}
	}
	if r.IntN(4) == 0 {
		m["disabled"] = true
	}
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	f, err := config.Parse("", fmt.Appendf(nil, `{"mcpServers":{"new":%s}}`, raw))
	require.NoError(t, err)
	e, _ := f.Entry("new")
	return e
}

// TestRoundTrip: whatever is exported into a host's file is imported as the same server,
// or as mcpctl, which starts it; what was in the file before has the same bytes, and is
// there alone once the entry is taken out.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, h := range hosts.All() {
		l, raw := sample(t, h)
		direct := 0
		for range 60 {
			e := entry(t, r)
			text := disturbed(r, l, raw)
			f, err := l.Read(text)
			require.NoError(t, err)
			out := h.Export(e, self)
			if out.Skip != "" {
				continue
			}
			set, err := f.Set("new", out.Raw)
			if err != nil {
				t.Fatalf("%s: Set %s: %v", h.Name, out.Raw, err)
			}
			back := set.Import("new", "")
			switch {
			case out.Through != "":
				if back.Own != "new" {
					t.Fatalf("%s: %s is read back as %s", h.Name, out.Raw, back.Entry)
				}
			default:
				direct++
				if diff := cmp.Diff(expanded(t, e.Raw), expanded(t, back.Entry)); diff != "" {
					t.Fatalf("%s: %s\nwas written as %s (-want +got):\n%s", h.Name, e.Raw, out.Raw, diff)
				}
			}
			for _, name := range f.Names() {
				if !bytes.Equal(f.Raw(name), set.Raw(name)) {
					t.Fatalf("%s: %s has changed", h.Name, name)
				}
			}
			lines(t, h.Name, text, set.Bytes())
			gone, err := set.Remove("new")
			require.NoError(t, err)
			if got, want := squeeze(gone.Bytes()), squeeze(text); got != want {
				t.Fatalf("%s: taken out again (-want +got):\n%s", h.Name, cmp.Diff(want, got))
			}
		}
		if direct == 0 {
			t.Errorf("%s: nothing was written in its own form", h.Name)
		}
	}
}

// TestImportExportImport: what is imported from any host, exported to any host and imported
// again is the same server, or mcpctl, which starts it.
func TestImportExportImport(t *testing.T) {
	t.Parallel()
	direct, all := 0, 0
	seen := map[string]bool{}
	files := map[string]*hosts.File{}
	for _, h := range hosts.All() {
		l, raw := sample(t, h)
		f, err := l.Read(raw)
		require.NoError(t, err)
		files[h.Name] = f
	}
	for _, from := range hosts.All() {
		f := files[from.Name]
		for _, name := range f.Names() {
			in := f.Import(name, "/work/app")
			if in.Skip != "" || in.Own != "" || seen[string(in.Entry)] {
				continue
			}
			seen[string(in.Entry)] = true
			parsed, err := config.Parse("", fmt.Appendf(nil, `{"mcpServers":{"new":%s}}`, in.Entry))
			require.NoError(t, err)
			e, _ := parsed.Entry("new")
			want := expanded(t, in.Entry)
			for _, to := range hosts.All() {
				out := to.Export(e, self)
				if out.Skip != "" {
					continue
				}
				set, err := files[to.Name].Set("new", out.Raw)
				require.NoError(t, err)
				back := set.Import("new", "")
				all++
				if out.Through == "" {
					direct++
					if diff := cmp.Diff(want, expanded(t, back.Entry)); diff != "" || len(back.Notes) > 0 {
						t.Errorf("%s of %s was written for %s as %s, notes %q (-want +got):\n%s", name, from.Name, to.Name, out.Raw, back.Notes, diff)
					}
				} else if back.Own != "new" {
					t.Errorf("%s of %s is read back from %s as %s", name, from.Name, to.Name, back.Entry)
				}
			}
		}
	}
	if direct*5 < all*2 { // those whose tools are limited have no form of their own in most hosts
		t.Errorf("only %d of %d were written in the host's own form", direct, all)
	}
	t.Logf("%d of %d were written in the host's own form", direct, all)
}

// disturbed returns a text with comments, members of no meaning, tabs, other line ends or a
// byte order mark.
func disturbed(r *rand.Rand, l *hosts.Location, raw []byte) []byte {
	yaml, toml := strings.HasSuffix(l.Path, ".yaml"), strings.HasSuffix(l.Path, ".toml")
	mark := "//"
	if yaml || toml {
		mark = "#"
	}
	var b strings.Builder
	for line := range strings.Lines(string(raw)) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if r.IntN(5) == 0 {
			fmt.Fprintf(&b, "%s%s %d {\"}\n", indent, mark, r.IntN(100))
		}
		switch {
		case r.IntN(6) > 0:
		case yaml && indent == "" && strings.HasSuffix(line, ":\n"):
			fmt.Fprintf(&b, "x-%d: {a: 1}\n", r.IntN(1e9))
		case toml && strings.HasPrefix(line, "["):
			fmt.Fprintf(&b, "[x%d]\na = 1\n", r.IntN(1e9))
		case !yaml && !toml && strings.HasPrefix(line, "  \""):
			fmt.Fprintf(&b, "  \"x-%d\": {\"a\": [1, null]},\n", r.IntN(1e9))
		}
		if end := strings.TrimRight(line, "\r\n"); r.IntN(8) == 0 && strings.TrimSpace(end) != "" {
			line = end + " " + mark + " behind\n"
		}
		b.WriteString(line)
	}
	out := []byte(b.String())
	if r.IntN(3) == 0 && !yaml {
		out = bytes.ReplaceAll(out, []byte("\n  "), []byte("\n\t"))
	}
	if r.IntN(3) == 0 {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	if r.IntN(3) == 0 {
		out = append([]byte("\uFEFF"), out...)
	}
	return out
}

// lines checks that all lines that were there are there in their order, but for commas.
func lines(t *testing.T, name string, before, after []byte) {
	t.Helper()
	after = bytes.ReplaceAll(after, []byte(","), nil)
	for line := range bytes.Lines(bytes.ReplaceAll(before, []byte(","), nil)) {
		_, rest, ok := bytes.Cut(after, bytes.TrimRight(line, "\r\n"))
		if !ok {
			t.Fatalf("%s: the line %q is gone", name, line)
		}
		after = rest
	}
}

// squeeze leaves out blank lines.
func squeeze(text []byte) string {
	var out []string
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "" {
			out = append(out, strings.TrimRight(line, "\r\n"))
		}
	}
	return strings.Join(out, "\n")
}

// expanded is what an entry means, with each variable replaced by a mark.
func expanded(t *testing.T, raw json.RawMessage) map[string]any {
	t.Helper()
	f, err := config.Parse("", fmt.Appendf(nil, `{"mcpServers":{"x":%s}}`, raw))
	require.NoError(t, err)
	e, _ := f.Entry("x")
	out := map[string]any{"disabled": e.Disabled, "type": e.Transport(), "auth": string(e.Auth)}
	for i, empty := range []bool{false, true} {
		x, err := e.Expand(func(name string) (string, bool) { return map[bool]string{false: "<" + name + ">"}[empty], true })
		if err != nil {
			out[fmt.Sprint(i)] = err.Error()
			continue
		}
		var args []string
		for _, a := range x.Args {
			args = append(args, a.Reveal())
		}
		env, headers := config.Revealed(x.Env), config.Revealed(x.Headers)
		out[fmt.Sprint(i)] = []any{x.Command, args, x.Cwd, x.URL.Reveal(), fmt.Sprint(env), fmt.Sprint(headers)}
	}
	return out
}

// TestLocations: no host has a file of another one, and each is absolute.
func TestLocations(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows"} {
		p := place()
		p.GOOS = goos
		seen := map[string]string{}
		for _, h := range hosts.All() {
			for _, l := range h.Locations(p) {
				key := l.Path + " " + strings.Join(l.Root, "/")
				if seen[key] != "" {
					t.Errorf("%s: %s and %s have the same file %s", goos, h.Name, seen[key], l.Path)
				}
				seen[key] = h.Name
				if !filepath.IsAbs(l.Path) {
					t.Errorf("%s: %s is relative", h.Name, l.Path)
				}
			}
		}
	}
	p := place()
	p.Getenv = func(name string) string {
		return map[string]string{"CODEX_HOME": "/c", "XDG_CONFIG_HOME": "/xdg"}[name]
	}
	for name, want := range map[string]string{"codex": "/c/config.toml", "zed": "/xdg/zed/settings.json", "vscode": "/xdg/Code/User/mcp.json", "opencode": "/xdg/opencode/opencode.json"} {
		if got := hosts.Find(name).Locations(p)[0].Path; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestOpen: a file in another place is read by its form, a host's own file as that.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := place()
	p.Home = filepath.Join(dir, "home")
	for _, h := range hosts.All() {
		paths, err := filepath.Glob(filepath.Join("testdata", h.Name+".[jty]*"))
		require.NoError(t, err)
		text, err := os.ReadFile(paths[len(paths)-1])
		require.NoError(t, err)
		path := filepath.Join(dir, filepath.Base(paths[len(paths)-1]))
		require.NoError(t, os.WriteFile(path, text, 0o600))
		f, err := hosts.Open(path, p)
		switch {
		case h.Name == "amp": // its list is below a key of its own
			if !errors.Is(err, hosts.ErrForm) {
				t.Errorf("amp: %v", err)
			}
		case err != nil || len(f.Names()) == 0:
			t.Errorf("%s: %v", h.Name, err)
		}
	}
	require.NoError(t, os.MkdirAll(p.Home, 0o700))
	own := filepath.Join(p.Home, ".claude.json")
	require.NoError(t, os.WriteFile(own, []byte("{}"), 0o600))
	if f, err := hosts.Open(own, p); err != nil || f.Location.Host.Name != "claude-code" || f.Location.Scope != hosts.ScopeUser {
		t.Errorf("got %+v, %v", f, err)
	}
}
