package packages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// npmView is what "npm view" prints of one version. It writes a list of one as the
// one.
type npmView struct {
	Name       string            `json:"name"`
	Version    string            `json:"version"`
	Versions   oneOrMany[string] `json:"versions"`
	Tags       map[string]string `json:"dist-tags"`
	Integrity  string            `json:"dist.integrity"`
	Shasum     string            `json:"dist.shasum"`
	Deprecated any               `json:"deprecated"` // a text, or false
}

type oneOrMany[T any] []T

// UnmarshalJSON reads a value or an array of such.
func (l *oneOrMany[T]) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		return json.Unmarshal(b, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*l = []T{one}
	return nil
}

// npm asks npm view, which runs no script of a package.
func (t *Tools) npm(ctx context.Context, p Package) (Release, error) {
	args := []string{"view", "--json"}
	if p.Base != "" {
		args = append(args, "--registry="+p.Base)
	}
	args = append(args, "--", p.String(), "name", "version", "versions", "dist-tags", "dist.integrity", "dist.shasum", "deprecated")
	out, err := t.run(ctx, "", "npm", args...)
	if err != nil {
		return Release{}, npmError(p, out, err)
	}
	var views oneOrMany[npmView]
	if len(bytes.TrimSpace(out)) == 0 {
		return Release{}, &NotFoundError{p}
	}
	if err := json.Unmarshal(out, &views); err != nil || len(views) == 0 {
		return Release{}, fmt.Errorf("npm prints something else than JSON: %w", err)
	}
	// Several versions are in a range. npx takes the newest tag where it is in it, else
	// the last.
	v := views[len(views)-1]
	if i := slices.IndexFunc(views, func(o npmView) bool { return o.Version == o.Tags["latest"] }); i >= 0 {
		v = views[i]
	}
	if v.Name == "" || v.Version == "" {
		return Release{}, errors.New("npm prints neither a name nor a version")
	}
	r := Release{Version: v.Version, Latest: v.Tags["latest"], Versions: v.Versions}
	switch {
	case v.Integrity != "":
		r.Integrity = []string{v.Integrity}
	case v.Shasum != "": // of packages before 2017
		r.Integrity = []string{"sha1:" + v.Shasum}
	}
	r.Deprecated, _ = v.Deprecated.(string)
	return r, nil
}

// npmError reads why npm has failed: with --json it says so on its standard output.
func npmError(p Package, out []byte, err error) error {
	var said struct {
		Error struct{ Code, Summary string }
	}
	if json.Unmarshal(out, &said) != nil || said.Error.Code == "" {
		return err
	}
	switch said.Error.Code {
	case "E404", "ETARGET":
		return &NotFoundError{p}
	}
	line, _, _ := bytes.Cut([]byte(said.Error.Summary), []byte("\n"))
	return fmt.Errorf("npm: %s (%s)", redacted(string(line)), said.Error.Code)
}
