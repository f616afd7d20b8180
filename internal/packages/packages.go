package packages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Package names one package, as an entry of servers.json or a record of a
// registry does.
type Package struct {
	// Type is npm, pypi or oci.
	Type string
	// Base is the address of the package registry; "" is the one that the user has
	// configured. Images have theirs in the name.
	Base string
	// Name is the package's name, or the reference of an image without its tag.
	Name string
	// Version is exact; of npm also a tag or a range, of an image a tag or a
	// digest. "" is the newest.
	Version string
}

// String returns the name with its version, as the runner takes them.
func (p Package) String() string {
	if p.Version == "" {
		return p.Name
	}
	switch {
	case p.Type == typePyPI:
		return p.Name + "==" + p.Version
	case p.Type == typeOCI && !isDigest(p.Version):
		return p.Name + ":" + p.Version
	}
	return p.Name + "@" + p.Version
}

// Release is what is known of a package.
type Release struct {
	// Version is the version that the runner would take, "" where only its digest
	// is known.
	Version string
	// Latest is the newest version; "" is unknown.
	Latest string
	// Versions are all versions, in the order of the tool; nil is unknown.
	Versions []string
	// Integrity are the digests of the version's files, sorted: "sha512-…" of npm,
	// "sha256:…" of the others. A PyPI version has one for each file.
	Integrity []string
	// Deprecated is what the publisher says of a version that is deprecated (npm).
	Deprecated string
}

const (
	typeNPM  = "npm"
	typePyPI = "pypi"
	typeOCI  = "oci"
)

// Defaults and bounds of [Tools].
const (
	defaultTimeout  = 30 * time.Second
	defaultParallel = 4
	// mostOutput is what is read of a tool's output; more is an error.
	mostOutput = 8 << 20
)

// Tools looks packages up. The zero value is usable; it is safe for concurrent use
// and must not be copied.
type Tools struct {
	// Timeout is how long one look-up may take; 0 is 30 s.
	Timeout time.Duration
	// Parallel is how many tools run at once; 0 is 4.
	Parallel int
	// Env is added to the environment of the tools.
	Env map[string]string
	// Hurry is closed when there is no time left to end tools gently; nil is never.
	Hurry <-chan struct{}

	once  sync.Once
	turns chan struct{} // holds one value for each tool that runs
}

// UnknownError says that nothing can be found out about a package, and why.
type UnknownError struct {
	Package Package
	// Reason is such as "npm is not installed".
	Reason string
	// Missing reports that a tool is not installed.
	Missing bool
	Err     error // nil or the cause
}

// Error names the package and the reason.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s package %s: not known: %s", e.Package.Type, e.Package, e.Reason)
}

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// NotFoundError says that the registry has no such package or version.
type NotFoundError struct{ Package Package }

// Error names the package.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s package %s: its registry has no such package or version", e.Package.Type, e.Package)
}

// Look asks about one package. Its error is an [*UnknownError], a [*NotFoundError]
// or that of ctx.
func (t *Tools) Look(ctx context.Context, p Package) (Release, error) {
	if why := fault(p); why != "" {
		return Release{}, &UnknownError{Package: p, Reason: why}
	}
	within, stop := context.WithTimeout(ctx, cmp.Or(t.Timeout, defaultTimeout))
	defer stop()
	var r Release
	var err error
	switch p.Type {
	case typeNPM:
		r, err = t.npm(within, p)
	case typePyPI:
		r, err = t.pypi(within, p)
	case typeOCI:
		r, err = t.image(within, p)
	}
	if err != nil {
		return Release{}, wrap(ctx, p, err)
	}
	slices.Sort(r.Integrity)
	r.Integrity = slices.Compact(r.Integrity)
	return r, nil
}

// wrap makes an error one of the kinds that Look promises.
func wrap(ctx context.Context, p Package, err error) error {
	var missing *missingError
	var unknown *UnknownError
	var notFound *NotFoundError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &unknown), errors.As(err, &notFound):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &UnknownError{Package: p, Reason: "no answer in time", Err: err}
	}
	return &UnknownError{Package: p, Reason: err.Error(), Missing: errors.As(err, &missing), Err: err}
}
