// Package bundle reads MCP bundles (mcpb): archives with a server and everything that it needs.
// A bundle is checked before anything of it is written, and unpacked into a folder of the state
// directory. Folders that no servers.json names any more are removed.
package bundle

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Store is where bundles are unpacked. Methods of several processes may run at once.
type Store struct {
	// Dir is the folder with one folder for each bundle.
	Dir string
	// GOOS and Home are those of the machine that bundles are started on.
	GOOS, Home string
	// Transport makes the requests, nil is that of net/http.
	Transport http.RoundTripper
	// Say tells the user what takes long; nil says nothing.
	Say func(format string, a ...any)
}

// Bundle is one bundle that was read. Close removes what was downloaded.
type Bundle struct {
	store    *Store
	manifest *manifest
	sum      string
	archive  *os.File // nil for one that is unpacked
	temp     bool     // the archive was downloaded
	files    []*zip.File
}

// sumLength is how much of a digest names a folder: 128 bits.
const sumLength = 32

// Open reads the bundle of a package: one that is unpacked, else a file, else what its address
// has. The digest is checked first.
func (s *Store) Open(ctx context.Context, p registry.Package) (*Bundle, error) {
	sum := strings.ToLower(p.FileSHA256)
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
		return nil, errors.New("its bundle has no SHA-256, so it cannot be checked")
	}
	if m, err := s.installed(sum); err == nil {
		return &Bundle{store: s, manifest: m, sum: sum}, nil
	}
	f, err := s.fetch(ctx, p.Identifier)
	if err != nil {
		return nil, err
	}
	b := &Bundle{store: s, archive: f, temp: strings.Contains(p.Identifier, "://")}
	if err := b.read(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if b.sum != sum {
		return nil, errors.Join(fmt.Errorf("its bundle has the SHA-256 %s, and not %s", b.sum, sum), b.Close())
	}
	return b, nil
}

// OpenFile reads a bundle of the user's own, which has no other digest than its file's.
func (s *Store) OpenFile(path string) (*Bundle, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	b := &Bundle{store: s, archive: f}
	if err := b.read(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func openFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	case info.Size() > MaxBytes:
		return nil, fmt.Errorf("it has more than %d MB", MaxBytes>>20)
	}
	return os.Open(path)
}

// read checks the archive and reads its manifest.
func (b *Bundle) read() error {
	hash := sha256.New()
	size, err := io.Copy(hash, b.archive)
	if err != nil {
		return err
	}
	b.sum = hex.EncodeToString(hash.Sum(nil))
	z, err := zip.NewReader(b.archive, size)
	if err != nil {
		return fmt.Errorf("it is no bundle: %w", err)
	}
	if err := check(z.File); err != nil {
		return err
	}
	b.files = z.File
	f, err := z.Open(manifestName)
	if err != nil {
		return err
	}
	b.manifest, err = manifestOf(f)
	return err
}

// manifestOf reads a manifest and closes its file.
func manifestOf(f io.ReadCloser) (*manifest, error) {
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(raw) > maxManifest {
		return nil, fmt.Errorf("its manifest.json has more than %d MB", maxManifest>>20)
	}
	return readManifest(raw)
}

// fetch returns the file of a bundle: a temporary one of what an address has.
func (s *Store) fetch(ctx context.Context, from string) (f *os.File, err error) {
	if !strings.Contains(from, "://") {
		return openFile(from)
	}
	if s.Say != nil {
		s.Say("downloading %s", from)
	}
	client := retryablehttp.NewClient()
	client.Logger, client.RetryMax, client.RetryWaitMin = nil, 2, 300*time.Millisecond
	client.HTTPClient = &http.Client{Transport: s.Transport, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		switch {
		case len(via) > 10:
			return errors.New("it is redirected more than 10 times")
		case to.URL.Scheme != "https" && via[0].URL.Scheme == "https":
			return errors.New("it is redirected to http")
		}
		return nil
	}}
	request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("its bundle was not downloaded: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("its bundle was not downloaded: %s", answer.Status)
	}
	if f, err = os.CreateTemp("", "mcpctl-*.mcpb"); err != nil {
		return nil, err
	}
	n, err := io.Copy(f, io.LimitReader(answer.Body, MaxBytes+1))
	if err == nil && n > MaxBytes {
		err = fmt.Errorf("its bundle has more than %d MB", MaxBytes>>20)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// installed reads the manifest of a bundle that is unpacked.
func (s *Store) installed(sum string) (*manifest, error) {
	f, err := os.Open(filepath.Join(s.dir(sum), manifestName))
	if err != nil {
		return nil, err
	}
	return manifestOf(f)
}

func (s *Store) dir(sum string) string { return filepath.Join(s.Dir, sum[:sumLength]) }

// Dir is the folder in which the bundle is, or will be.
func (b *Bundle) Dir() string { return b.store.dir(b.sum) }

// Sum is the SHA-256 of the archive.
func (b *Bundle) Sum() string { return b.sum }

// Record returns a document that says of the bundle what the manifest does.
func (b *Bundle) Record(path string) registry.Server {
	m := b.manifest
	return registry.Server{
		Name: m.Name, Title: m.DisplayName, Version: m.Version, Description: m.Description,
		Packages: []registry.Package{{RegistryType: "mcpb", Identifier: path, Version: m.Version, FileSHA256: b.sum}},
	}
}

// Scaffold returns what the manifest says to run. given reports whether the user has set an
// argument.
func (b *Bundle) Scaffold(given func(name string) bool) *scaffold.Bundle {
	return b.manifest.bundle(machine{b.store.GOOS, b.store.Home, b.Dir()}, given)
}

// Install unpacks the bundle, unless it is.
func (b *Bundle) Install() error {
	if b.archive == nil {
		return nil
	}
	if _, err := b.store.installed(b.sum); err == nil {
		return nil
	}
	if err := os.MkdirAll(b.store.Dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(b.store.Dir, tempStart)
	if err != nil {
		return err
	}
	err = unpack(b.files, temp)
	if err == nil {
		err = b.runnable(temp)
	}
	if err == nil {
		err = os.Rename(temp, b.Dir())
	}
	if err == nil {
		return nil
	}
	if gone := os.RemoveAll(temp); gone != nil {
		err = errors.Join(err, gone)
	}
	if _, other := b.store.installed(b.sum); other == nil { // by another process, meanwhile
		return nil
	}
	return err
}

// runnable makes the program of a bundle one that can be started: archives made on Windows have
// no such mark.
func (b *Bundle) runnable(dir string) error {
	m := b.manifest
	if m.Server.Type != "binary" || m.Server.EntryPoint == "" {
		return nil
	}
	path := filepath.Join(dir, filepath.FromSlash(m.Server.EntryPoint))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { // it is that of another platform
		return nil
	}
	return os.Chmod(path, 0o700) //nolint:gosec // it is a program, and only of its owner
}

// Close closes the archive, and removes one that was downloaded.
func (b *Bundle) Close() error {
	if b.archive == nil {
		return nil
	}
	err := b.archive.Close()
	if b.temp {
		err = errors.Join(err, os.Remove(b.archive.Name()))
	}
	b.archive, b.files = nil, nil
	return err
}
