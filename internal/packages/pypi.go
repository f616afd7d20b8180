package packages

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// Of what uv and pip print.
var (
	pinnedLine = lazy.Regexp(`(?m)^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==(\S+)`)
	hashOf     = lazy.Regexp(`--hash=(sha256:[0-9a-f]{64})`)
	pipAll     = lazy.Regexp(`(?m)^Available versions: (.+)$`)
	noSuch     = lazy.Regexp(`not found in the package registry|No matching distribution|there (is|are) no versions? of`)
)

// pypi asks uv, which comes with uvx, and pip where there is no uv. The wanted
// version and the newest one are asked for side by side.
func (t *Tools) pypi(ctx context.Context, p Package) (Release, error) {
	r, err := t.both(ctx, p, t.uv)
	var missing *missingError
	if !errors.As(err, &missing) {
		return r, err
	}
	if r, pipErr := t.both(ctx, p, t.pip); !errors.As(pipErr, &missing) {
		return r, pipErr
	}
	return Release{}, &missingError{"uv"}
}

func (t *Tools) both(ctx context.Context, p Package, ask func(context.Context, Package) (Release, error)) (Release, error) {
	var wanted, newest Release
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		wanted, err = ask(ctx, p)
		return err
	})
	if p.Version != "" {
		group.Go(func() error {
			any := p
			any.Version = ""
			r, err := ask(ctx, any)
			if notFound := new(NotFoundError); errors.As(err, &notFound) {
				return nil // every newer version needs another Python
			}
			newest = r
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Release{}, err
	}
	if p.Version == "" {
		newest = wanted
	}
	wanted.Latest = newest.Version
	if wanted.Versions == nil {
		wanted.Versions = newest.Versions
	}
	return wanted, nil
}

// uv resolves one requirement, from wheels only: to build is to run the package.
func (t *Tools) uv(ctx context.Context, p Package) (Release, error) {
	args := []string{"pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-deps", "--generate-hashes", "--no-build", "--no-python-downloads", "-"}
	if p.Base != "" {
		args = append(args, "--default-index="+p.Base)
	}
	out, err := t.run(ctx, p.String()+"\n", "uv", args...)
	if err != nil {
		return Release{}, absent(p, err)
	}
	m := pinnedLine().FindSubmatch(out)
	if m == nil {
		return Release{}, errors.New("uv prints no version")
	}
	r := Release{Version: string(m[2])}
	for _, h := range hashOf().FindAllSubmatch(out, -1) {
		r.Integrity = append(r.Integrity, string(h[1]))
	}
	return r, nil
}

// pipReport is what pip says that it would install.
type pipReport struct {
	Install []struct {
		Metadata struct {
			Version string `json:"version"`
		} `json:"metadata"`
		Download struct {
			Archive struct {
				Hashes map[string]string `json:"hashes"`
			} `json:"archive_info"`
		} `json:"download_info"`
	} `json:"install"`
}

// pip resolves one requirement. It names the file that fits this machine, and
// only its digest.
func (t *Tools) pip(ctx context.Context, p Package) (Release, error) {
	args := []string{"install", "--quiet", "--no-input", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary=:all:", "--report=-"}
	index := []string{"index", "versions", "--no-input"}
	if p.Base != "" {
		args, index = append(args, "--index-url="+p.Base), append(index, "--index-url="+p.Base)
	}
	out, err := t.run(ctx, "", "pip", append(args, "--", p.String())...)
	if err != nil {
		return Release{}, absent(p, err)
	}
	var report pipReport
	if err := json.Unmarshal(out, &report); err != nil || len(report.Install) != 1 || report.Install[0].Metadata.Version == "" {
		return Release{}, errors.New("pip prints no version")
	}
	found := report.Install[0]
	r := Release{Version: found.Metadata.Version}
	if h := found.Download.Archive.Hashes["sha256"]; h != "" {
		r.Integrity = []string{"sha256:" + h}
	}
	name, _, _ := strings.Cut(p.Name, "[")
	if out, err = t.run(ctx, "", "pip", append(index, "--", name)...); err == nil {
		if m := pipAll().FindSubmatch(out); m != nil {
			r.Versions = strings.Split(string(m[1]), ", ")
		}
	}
	return r, nil
}

// absent makes the failure of a resolution one that says that there is no such
// package, where the tool says so.
func absent(p Package, err error) error {
	if failed := new(statusError); errors.As(err, &failed) && noSuch().MatchString(failed.all) {
		return &NotFoundError{p}
	}
	return err
}
