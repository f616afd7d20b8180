package bundle

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/test/require"
)

const plainManifest = `{"manifest_version": "0.3", "name": "thing", "version": "1.0.0", "server": {"type": "node", "entry_point": "server/index.js"}}`

// part is one file of an archive.
type part struct {
	name, text string
	mode       fs.FileMode
	header     func(*zip.FileHeader)
}

// pack makes an archive.
func pack(t testing.TB, parts ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		h := &zip.FileHeader{Name: p.name, Method: zip.Deflate}
		if strings.HasSuffix(p.name, "/") {
			h.Method = zip.Store
		}
		if p.mode != 0 {
			h.SetMode(p.mode)
		}
		if p.header != nil {
			p.header(h)
		}
		w, err := z.CreateHeader(h)
		require.NoError(t, err)
		_, err = w.Write([]byte(p.text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func sumOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func newStore(t *testing.T) *Store {
	t.Helper()
	return &Store{Dir: filepath.Join(t.TempDir(), "bundles"), GOOS: "linux", Home: "/home/me"}
}

// site serves one archive, and returns its address.
func site(t *testing.T, raw []byte) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone.mcpb" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(raw)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestRefused: an archive whose names leave their folder, that has links, that is too large or has
// another digest is refused, and nothing is written.
func TestRefused(t *testing.T) {
	manifest := part{name: manifestName, text: plainManifest}
	large := func(h *zip.FileHeader) { h.Method = zip.Store }
	tests := map[string]struct {
		raw  []byte
		want string
	}{
		"up":        {pack(t, manifest, part{name: "../x"}), "does not stay"},
		"up inside": {pack(t, manifest, part{name: "a/../../x"}), "does not stay"},
		"absolute":  {pack(t, manifest, part{name: "/etc/x"}), "does not stay"},
		"drive":     {pack(t, manifest, part{name: "C:/x"}), "does not stay"},
		"backslash": {pack(t, manifest, part{name: `a\..\..\x`}), "does not stay"},
		"dot":       {pack(t, manifest, part{name: "./x"}), "does not stay"},
		"nul":       {pack(t, manifest, part{name: "a\x00b"}), "does not stay"},
		"empty":     {pack(t, manifest, part{name: "a//b"}), "does not stay"},
		"link":      {pack(t, manifest, part{name: "l", text: "/etc/passwd", mode: 0o777 | fs.ModeSymlink}), "link or a special file"},
		"device":    {pack(t, manifest, part{name: "d", mode: 0o600 | fs.ModeDevice}), "link or a special file"},
		"twice":     {pack(t, manifest, part{name: "Server/a"}, part{name: "server/A"}), "there twice"},
		"both":      {pack(t, manifest, part{name: "a"}, part{name: "a/b"}), "both a file and a folder"},
		"both late": {pack(t, manifest, part{name: "a/b"}, part{name: "a"}), "there twice"},
		"method":    {pack(t, manifest, part{name: "x", header: func(h *zip.FileHeader) { h.Method = zip.Store; h.Flags |= 1 }}), "encrypted"},
		"no manifest": {
			pack(t, part{name: "server/index.js"}), "no manifest.json",
		},
		"bad manifest":   {pack(t, part{name: manifestName, text: "{"}), "manifest.json"},
		"no name":        {pack(t, part{name: manifestName, text: `{"server": {"type": "node", "entry_point": "x"}}`}), "has no name"},
		"type":           {pack(t, part{name: manifestName, text: `{"name": "x", "server": {"type": "ruby", "entry_point": "x"}}`}), `type "ruby"`},
		"nothing to run": {pack(t, part{name: manifestName, text: `{"name": "x", "server": {"type": "node"}}`}), "nothing to run"},
		"entry outside":  {pack(t, part{name: manifestName, text: `{"name": "x", "server": {"type": "node", "entry_point": "../x"}}`}), "not in the bundle"},
		"long manifest":  {pack(t, part{name: manifestName, text: strings.Repeat(" ", maxManifest) + plainManifest, header: large}), "more than 4 MB"},
		"no archive":     {[]byte("hello"), "no bundle"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, err := s.Open(t.Context(), registry.Package{Identifier: site(t, tt.raw) + "/x.mcpb", FileSHA256: sumOf(tt.raw)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %s", err, tt.want)
			}
			path := filepath.Join(t.TempDir(), "x.mcpb")
			require.NoError(t, os.WriteFile(path, tt.raw, 0o600))
			if _, err := s.OpenFile(path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("of a file, the error is %v, want %s", err, tt.want)
			}
			if _, err := os.Stat(s.Dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is there: %v", s.Dir, err)
			}
		})
	}
}

// TestTooLarge: the number of files and the size that the directory of an archive says are bounded,
// and so is what a file really has.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	file := func(name string, size uint64) *zip.File {
		return &zip.File{FileHeader: zip.FileHeader{Name: name, UncompressedSize64: size, Method: zip.Deflate}}
	}
	many := []*zip.File{file(manifestName, 10)}
	for i := range MaxFiles {
		many = append(many, file(fmt.Sprintf("f%d", i), 1))
	}
	if err := check(many); err == nil || !strings.Contains(err.Error(), "50001 files") {
		t.Errorf("the error is %v", err)
	}
	if err := check(many[:MaxFiles]); err != nil {
		t.Error(err)
	}
	for _, files := range [][]*zip.File{
		{file(manifestName, 10), file("a", MaxBytes/2), file("b", MaxBytes/2)},
		{file(manifestName, 10), file("a", 1<<63), file("b", 1<<63)},
	} {
		if err := check(files); err == nil || !strings.Contains(err.Error(), "more than 512 MB") {
			t.Errorf("the error is %v", err)
		}
	}
	raw := pack(t, part{name: manifestName, text: plainManifest}, part{name: "a", text: strings.Repeat("x", 5000)})
	path := filepath.Join(t.TempDir(), "x.mcpb")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	s := newStore(t)
	b, err := s.OpenFile(path)
	require.NoError(t, err)
	defer b.Close()
	b.files[1].UncompressedSize64 = 100
	if err := b.Install(); err == nil {
		t.Error("a file with more than the archive says was unpacked")
	}
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

// TestDigest: a bundle without a digest, or with another one, is not read.
func TestDigest(t *testing.T) {
	raw := pack(t, part{name: manifestName, text: plainManifest})
	url := site(t, raw)
	for _, tt := range []struct{ at, sum, want string }{
		{"/x.mcpb", "", "no SHA-256"},
		{"/x.mcpb", "abc", "no SHA-256"},
		{"/x.mcpb", strings.Repeat("0", 64), "has the SHA-256 " + sumOf(raw)},
		{"/gone.mcpb", sumOf(raw), "404"},
	} {
		s := newStore(t)
		_, err := s.Open(t.Context(), registry.Package{Identifier: url + tt.at, FileSHA256: tt.sum})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want %s", tt.at, err, tt.want)
		}
		if _, err := os.Stat(s.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", s.Dir, err)
		}
	}
	b, err := newStore(t).Open(t.Context(), registry.Package{Identifier: url + "/x.mcpb", FileSHA256: strings.ToUpper(sumOf(raw))})
	require.NoError(t, err)
	temp := b.archive.Name()
	require.NoError(t, b.Close())
	if _, err := os.Stat(temp); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there", temp)
	}
}

// TestInstall: files have their bytes and no more rights than they need. A folder goes when no
// file names it any more, and stays while one does or cannot be read.
func TestInstall(t *testing.T) {
	t.Parallel()
	text := `{"name": "thing", "version": "1", "server": {"type": "binary", "entry_point": "bin/run"}}`
	raw := pack(t, part{name: "bin/"}, part{name: "bin/run", text: "#!/bin/sh\n", mode: 0o644}, part{name: manifestName, text: text}, part{name: "lib/tool", text: "x", mode: 0o755}, part{name: "lib/data", text: "y", mode: 0o4666})
	dir := t.TempDir()
	path := filepath.Join(dir, "x.mcpb")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	s := &Store{Dir: filepath.Join(dir, "bundles"), GOOS: "linux", Home: "/home/me"}
	b, err := s.OpenFile(path)
	require.NoError(t, err)
	config := filepath.Join(dir, "servers.json")
	require.NoError(t, b.Use(t.Context(), config))
	require.NoError(t, b.Install())
	require.NoError(t, b.Install())
	require.NoError(t, b.Close())
	for name, want := range map[string]fs.FileMode{"bin/run": 0o700, "lib/tool": 0o700, "lib/data": 0o600, manifestName: 0o600, "lib": fs.ModeDir | 0o700} {
		info, err := os.Stat(filepath.Join(b.Dir(), name))
		require.NoError(t, err)
		if runtime.GOOS != "windows" && info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", name, info.Mode(), want)
		}
	}
	if again, err := s.Open(t.Context(), registry.Package{Identifier: "https://127.0.0.1:1/gone", FileSHA256: b.Sum()}); err != nil || again.Dir() != b.Dir() {
		t.Errorf("what is unpacked is fetched again: %v", err)
	}
	there := func() bool {
		require.NoError(t, s.Prune(t.Context()))
		_, err := os.Stat(b.Dir())
		return err == nil
	}
	require.NoError(t, os.WriteFile(config, []byte(`{"cwd": "`+filepath.Base(b.Dir())+`"}`), 0o600))
	if !there() {
		t.Error("it is gone while a file names it")
	}
	require.NoError(t, os.Remove(config))
	require.NoError(t, os.Mkdir(config, 0o700))
	if !there() {
		t.Error("it is gone though its file cannot be read")
	}
	require.NoError(t, os.Remove(config))
	require.NoError(t, os.WriteFile(config, []byte(`{}`), 0o600))
	if there() {
		t.Error("it is still there, and no file names it")
	}
	if !s.Holds(filepath.Join(b.Dir(), "x")) || s.Holds(dir) || s.Holds(s.Dir) || s.Holds("x") {
		t.Error("Holds is wrong")
	}
}

// TestBrokenUsers: with a list of users that cannot be read, nothing is removed.
func TestBrokenUsers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	folder := filepath.Join(s.Dir, strings.Repeat("a", sumLength))
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "users.json"), []byte("{"), 0o600))
	if err := s.Prune(t.Context()); err == nil {
		t.Error("there is no error")
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "users.json"), []byte(`{"../x": [], "..": [], "": []}`), 0o600))
	require.NoError(t, s.Prune(t.Context()))
	if _, err := os.Stat(folder); err != nil {
		t.Error(err)
	}
}

// FuzzBundle: whatever an archive holds, what is unpacked of it is in its folder.
func FuzzBundle(f *testing.F) {
	f.Add(pack(f, part{name: manifestName, text: plainManifest}, part{name: "server/index.js", text: "x"}))
	f.Add(pack(f, part{name: manifestName, text: plainManifest}, part{name: "../x", text: "x"}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.mcpb")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		s := &Store{Dir: filepath.Join(dir, "in", "bundles"), GOOS: "linux", Home: "/home/me"}
		b, err := s.OpenFile(path)
		if err != nil {
			return
		}
		defer b.Close()
		_ = b.Install()
		b.Scaffold(func(string) bool { return false })
		for _, in := range []string{dir, filepath.Join(dir, "in")} {
			entries, err := os.ReadDir(in)
			require.NoError(t, err)
			for _, e := range entries {
				if e.Name() != "x.mcpb" && e.Name() != "in" && e.Name() != "bundles" {
					t.Fatalf("%s was written", e.Name())
				}
			}
		}
	})
}
