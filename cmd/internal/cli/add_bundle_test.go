package cli

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/test/require"
)

// bundleOf makes a bundle (mcpb) of one version.
func bundleOf(t *testing.T, version string) (raw []byte, sum string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"manifest.json": `{"manifest_version": "0.3", "name": "thing", "version": "` + version + `", "server": {"type": "node", "entry_point": "server/index.js",
			"mcp_config": {"command": "node", "args": ["${__dirname}/server/index.js", "${user_config.dir}"], "env": {"KEY": "${user_config.key}"}}},
			"user_config": {"dir": {"type": "directory", "required": true, "title": "A folder"}, "key": {"type": "string", "required": true, "sensitive": true}}}`,
		"server/index.js": "// " + version,
	} {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	hash := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(hash[:])
}

// TestAddBundle: the bundle of a document is downloaded, checked and unpacked; it is gone with the
// last entry that uses it. One with another digest changes nothing.
func TestAddBundle(t *testing.T) {
	raw, sum := bundleOf(t, "1.0.0")
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write(raw)
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	s := &shop{file: filepath.Join(dir, "servers.json"), env: map[string]string{"MCPCTL_HOME": dir, "MCPCTL_CONFIG": filepath.Join(dir, "servers.json")}}
	document := func(name, sum string) string {
		path := filepath.Join(dir, name+".json")
		text := fmt.Sprintf(`{"name": "io.example/%s", "description": "x", "version": "1.0.0", "packages": [{"registryType": "mcpb", "identifier": "%s/thing.mcpb", "fileSha256": "%s", "transport": {"type": "stdio"}}]}`, name, srv.URL, sum)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	folders := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "bundles", "*", "manifest.json"))
		require.NoError(t, err)
		return all
	}
	good, bad := document("thing", sum), document("other", strings.Repeat("0", 64))

	got := s.run(t, "add", bad)
	if got.code != exitOther || !strings.Contains(got.errOut, "has the SHA-256 "+sum) {
		t.Errorf("a wrong digest: got %+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "bundles")); err == nil {
		t.Error("a wrong digest: something was written")
	}
	if got := s.run(t, "add", good, "--dry-run"); got.code != exitOK || len(folders()) > 0 {
		t.Errorf("a dry run: got %+v, with %v", got, folders())
	}
	got = s.run(t, "add", good, "--var", "dir=/data")
	if got.code != exitOK || !strings.Contains(got.errOut, "KEY (secret)") || len(folders()) != 1 {
		t.Fatalf("got %+v, with %v", got, folders())
	}
	folder := filepath.Dir(folders()[0])
	for _, want := range []string{folder + "/server/index.js", `"/data"`, `"KEY": "${KEY}"`, `"cwd": "` + folder + `"`} {
		if !strings.Contains(filepath.ToSlash(s.servers(t)), filepath.ToSlash(want)) {
			t.Errorf("%s is not in\n%s", want, s.servers(t))
		}
	}
	before := asked
	if got := s.run(t, "add", good, "--as", "again"); got.code != exitOK || asked != before {
		t.Errorf("an unpacked bundle is downloaded again: %+v", got)
	}
	file := filepath.Join(dir, "thing.mcpb")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	if got := s.run(t, "add", file, "--as", "file"); got.code != exitOK || len(folders()) != 1 {
		t.Errorf("a file: got %+v, with %v", got, folders())
	}
	for i, alias := range []string{"again", "thing", "file"} {
		if got := s.run(t, "remove", alias); got.code != exitOK {
			t.Errorf("got %+v", got)
		}
		if n := len(folders()); n != map[bool]int{true: 1, false: 0}[i < 2] {
			t.Errorf("after %s, %d folders are left", alias, n)
		}
	}
	for _, words := range [][]string{{"add", filepath.Join(dir, "gone.mcpb")}, {"info", file}} {
		if got := s.run(t, words...); got.code == exitOK || strings.Count(got.errOut, "mcpctl:") != 1 || len(folders()) > 0 {
			t.Errorf("%v: got %+v", words, got)
		}
	}
}

// TestUpdateBundle: update fetches the bundle of a newer version, keeps the user's values, and
// removes the older folder.
func TestUpdateBundle(t *testing.T) {
	archives := map[string][]byte{}
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(archives[r.URL.Path]) }))
	t.Cleanup(files.Close)
	var records []json.RawMessage
	for _, version := range []string{"1.0.0", "2.0.0"} {
		raw, sum := bundleOf(t, version)
		archives["/"+version+".mcpb"] = raw
		records = append(records, json.RawMessage(fmt.Sprintf(`{"server": {"name": "io.example/thing", "description": "x", "version": "%[1]s", "packages": [{"registryType": "mcpb", "identifier": "%[2]s/%[1]s.mcpb", "fileSha256": "%[3]s", "transport": {"type": "stdio"}}]}}`, version, files.URL, sum)))
	}
	h, err := registrytest.NewServer(records, registrytest.Options{})
	require.NoError(t, err)
	reg := httptest.NewServer(h)
	t.Cleanup(reg.Close)
	dir := t.TempDir()
	s := &shop{file: filepath.Join(dir, "servers.json"), env: map[string]string{
		"MCPCTL_HOME": dir, "MCPCTL_CONFIG": filepath.Join(dir, "servers.json"), "MCPCTL_REGISTRY": reg.URL, "KEY": "abc",
	}}
	if got := s.run(t, "add", "io.example/thing@1.0.0", "--var", "dir=/data"); got.code != exitOK {
		t.Fatalf("got %+v", got)
	}
	old, err := filepath.Glob(filepath.Join(dir, "bundles", "*", "server"))
	require.NoError(t, err)
	got := s.run(t, "update", "thing", "-y")
	now, err := filepath.Glob(filepath.Join(dir, "bundles", "*", "server"))
	require.NoError(t, err)
	if got.code != exitOK || len(old) != 1 || len(now) != 1 || old[0] == now[0] {
		t.Fatalf("%v becomes %v: %+v", old, now, got)
	}
	if text := s.servers(t); strings.Contains(text, filepath.Base(filepath.Dir(old[0]))) || !strings.Contains(text, filepath.Base(filepath.Dir(now[0]))) || !strings.Contains(text, `"/data"`) || !strings.Contains(text, `"2.0.0"`) {
		t.Errorf("servers.json is\n%s", text)
	}
}
