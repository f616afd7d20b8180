package packages_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/packages"
	"github.com/mcpctl/mcpctl/test/require"
)

// fakeRegistry serves documents of npm and pages of PyPI's simple index.
func fakeRegistry(t *testing.T) string {
	t.Helper()
	const wheel = "acme_notes-%s-py3-none-any.whl"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /npm/@acme%2fnotes", func(w http.ResponseWriter, r *http.Request) {
		version := func(v, more string) string {
			return fmt.Sprintf(`"%s":{"name":"@acme/notes","version":"%s","dist":{"integrity":"sha512-%s","tarball":"http://127.0.0.1:1/x.tgz"}%s}`, v, v, strings.ReplaceAll(v, ".", "a"), more)
		}
		fmt.Fprintf(w, `{"name":"@acme/notes","dist-tags":{"latest":"1.3.0","next":"2.0.0-rc.1"},"versions":{%s,%s,%s}}`,
			version("1.2.3", `,"deprecated":"use 1.3"`), version("1.3.0", ""), version("2.0.0-rc.1", ""))
	})
	mux.HandleFunc("GET /npm/page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>sign in</html>") })
	mux.HandleFunc("GET /npm/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("GET /pypi/acme-notes/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i, v := range []string{"1.2.3", "1.3.0"} {
			file := fmt.Sprintf(wheel, v)
			fmt.Fprintf(w, "<a href=\"/files/%s#sha256=%s\" data-dist-info-metadata=\"true\">%s</a>\n", file, strings.Repeat(fmt.Sprint(i+1), 64), file)
		}
	})
	mux.HandleFunc("GET /files/{file}", func(w http.ResponseWriter, r *http.Request) {
		version := strings.Split(r.PathValue("file"), "-")[1]
		fmt.Fprintf(w, "Metadata-Version: 2.1\nName: acme-notes\nVersion: %s\n", version)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("%s is not installed", tool)
	}
}

// tools returns tools with nothing of the user's own configuration.
func tools(t *testing.T, base string) *packages.Tools {
	t.Helper()
	home := t.TempDir()
	return &packages.Tools{Env: map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "NPM_CONFIG_REGISTRY": base + "/npm/", "npm_config_cache": home, "npm_config_fetch_retries": "0",
		"UV_DEFAULT_INDEX": base + "/pypi/", "UV_CACHE_DIR": home, "UV_NO_CONFIG": "1",
	}}
}

// TestNPM: the real npm, with a registry that is on this machine.
func TestNPM(t *testing.T) {
	t.Parallel()
	need(t, "npm")
	base := fakeRegistry(t)
	all := []string{"1.2.3", "1.3.0", "2.0.0-rc.1"}
	for name, c := range map[string]struct {
		version string
		want    packages.Release
	}{
		"a version": {"1.2.3", packages.Release{Version: "1.2.3", Latest: "1.3.0", Versions: all, Integrity: []string{"sha512-1a2a3"}, Deprecated: "use 1.3"}},
		"a range":   {"^1", packages.Release{Version: "1.3.0", Latest: "1.3.0", Versions: all, Integrity: []string{"sha512-1a3a0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tools(t, base).Look(t.Context(), packages.Package{Type: "npm", Name: "@acme/notes", Version: c.version})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNPMFails: a missing package, a page of a portal, and a registry that does not
// answer are told apart.
func TestNPMFails(t *testing.T) {
	t.Parallel()
	need(t, "npm")
	base := fakeRegistry(t)
	for name, want := range map[string]string{
		"absent": "npm package absent@1.0.0: its registry has no such package or version",
		"page":   "not known: npm",
		"slow":   "npm package slow@1.0.0: not known: no answer in time",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := tools(t, base)
			if name == "slow" {
				asked.Timeout = 400 * time.Millisecond
			}
			_, err := asked.Look(t.Context(), packages.Package{Type: "npm", Name: name, Version: "1.0.0"})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			var notFound *packages.NotFoundError
			if errors.As(err, &notFound) != (name == "absent") {
				t.Errorf("%T", err)
			}
		})
	}
}

// TestPyPI: the real uv, where it is installed.
func TestPyPI(t *testing.T) {
	t.Parallel()
	need(t, "uv")
	base := fakeRegistry(t)
	asked := tools(t, base)
	got, err := asked.Look(t.Context(), packages.Package{Type: "pypi", Name: "acme-notes", Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(packages.Release{Version: "1.2.3", Latest: "1.3.0", Integrity: []string{"sha256:" + strings.Repeat("1", 64)}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, p := range []packages.Package{{Type: "pypi", Name: "absent"}, {Type: "pypi", Name: "acme-notes", Version: "9"}} {
		_, err := asked.Look(t.Context(), p)
		if notFound := new(packages.NotFoundError); !errors.As(err, &notFound) {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// stub returns tools whose PATH has only the given programs, each a shell script.
func stub(t *testing.T, scripts map[string]string) *packages.Tools {
	t.Helper()
	if goruntime.GOOS == "windows" {
		t.Skip("the stubs are shell scripts")
	}
	dir := t.TempDir()
	for name, body := range scripts {
		if err := require.WriteProgram(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &packages.Tools{Env: map[string]string{"PATH": dir}}
}

// TestImage: what each tool prints is read, and one that cannot do it is followed
// by the next.
func TestImage(t *testing.T) {
	t.Parallel()
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	plain := packages.Package{Type: "oci", Name: "example.com/acme/notes", Version: "1.2"}
	for name, c := range map[string]struct {
		scripts map[string]string
		want    packages.Release
		fails   string
	}{
		"buildx": {map[string]string{"docker": `[ "$1 $2 $3 $6" = "buildx imagetools inspect example.com/acme/notes:1.2" ] && echo '{"digest":"` + a + `"}'`}, packages.Release{Version: "1.2", Integrity: []string{a}}, ""},
		"manifest": {
			map[string]string{"docker": `[ "$1" = manifest ] && echo '[{"Descriptor":{"digest":"` + b + `"}},{"Descriptor":{"digest":"` + a + `"}}]'`},
			packages.Release{Version: "1.2", Integrity: []string{a, b}},
			"",
		},
		"skopeo": {
			map[string]string{"skopeo": `if [ "$1" = list-tags ]; then echo '{"Tags":["1.1","1.2"]}'; else echo ` + a + `; fi`},
			packages.Release{Version: "1.2", Versions: []string{"1.1", "1.2"}, Integrity: []string{a}},
			"",
		},
		"no such":   {map[string]string{"docker": `echo "no such manifest: example.com/acme/notes:1.2" >&2; exit 1`}, packages.Release{}, "no such package or version"},
		"rubbish":   {map[string]string{"docker": "echo hello"}, packages.Release{}, "not known: docker prints no digest"},
		"none":      {nil, packages.Release{}, "oci package example.com/acme/notes:1.2: not known: docker is not installed"},
		"a secret":  {map[string]string{"docker": `echo "error: GET https://me:hunter2hunter2@example.com/v2: refused" >&2; exit 1`}, packages.Release{}, "refused"},
		"a torrent": {map[string]string{"docker": "exec /usr/bin/yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}, packages.Release{}, "writes more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := stub(t, c.scripts).Look(t.Context(), plain)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMissing: a tool that is not installed is named, with the type of error that
// says so.
func TestMissing(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]string{"npm": "npm is not installed", "pypi": "uv is not installed", "oci": "docker is not installed"} {
		_, err := stub(t, nil).Look(t.Context(), packages.Package{Type: typ, Name: "notes"})
		var unknown *packages.UnknownError
		if !errors.As(err, &unknown) || !unknown.Missing || unknown.Reason != want {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// TestRefused: what a tool would read as a flag, an address, a file or several words
// never reaches it.
func TestRefused(t *testing.T) {
	t.Parallel()
	none := stub(t, map[string]string{"npm": "echo ran", "uv": "echo ran", "docker": "echo ran"})
	for _, p := range []packages.Package{
		{Type: "npm", Name: "--registry=http://evil"},
		{Type: "npm", Name: "-g"},
		{Type: "npm", Name: ""},
		{Type: "npm", Name: "a b"},
		{Type: "npm", Name: "git+ssh://x/y"},
		{Type: "npm", Name: "./here"},
		{Type: "npm", Name: "notes.tgz"},
		{Type: "npm", Name: "user/repo"},
		{Type: "npm", Name: "notes", Version: "npm:other@1"},
		{Type: "npm", Name: "notes", Version: "-1"},
		{Type: "npm", Name: "notes", Version: "1 || 2"},
		{Type: "npm", Name: strings.Repeat("a", 300)},
		{Type: "npm", Name: "notes", Base: "file:///etc"},
		{Type: "npm", Name: "notes", Base: "https://me:secret@example.com"},
		{Type: "pypi", Name: "notes @ https://evil"},
		{Type: "pypi", Name: "notes\n-r /etc/passwd"},
		{Type: "pypi", Name: "notes", Version: "1\n--index-url=x"},
		{Type: "pypi", Name: "notes", Version: "1; x"},
		{Type: "oci", Name: "--help"},
		{Type: "oci", Name: "notes", Version: "-1"},
		{Type: "oci", Name: "a/../b"},
		{Type: "nuget", Name: "Acme.Notes"},
		{},
	} {
		_, err := none.Look(t.Context(), p)
		var unknown *packages.UnknownError
		if !errors.As(err, &unknown) || strings.Contains(err.Error(), "prints") {
			t.Errorf("%q %q: %v", p.Name, p.Version, err)
		}
	}
}

// TestEnds: a look-up ends with its context, and no tool waits for a turn that does
// not come.
func TestEnds(t *testing.T) {
	t.Parallel()
	asked := stub(t, map[string]string{"npm": "exec /bin/sleep 60"})
	asked.Parallel = 1
	ctx, stop := context.WithCancel(t.Context())
	errs := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := asked.Look(ctx, packages.Package{Type: "npm", Name: "notes"})
			errs <- err
		}()
	}
	time.Sleep(20 * time.Millisecond)
	stop()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
