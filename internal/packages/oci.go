package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// image asks for the digest of an image, and for its tags where a tool is installed
// that can list them. Docker itself cannot.
func (t *Tools) image(ctx context.Context, p Package) (Release, error) {
	if p.Base != "" {
		return Release{}, errors.New("the host of an image belongs into its name")
	}
	r := Release{}
	if !isDigest(p.Version) {
		r.Version = p.Version
	}
	digests, err := t.digests(ctx, p)
	if err != nil {
		return Release{}, err
	}
	r.Integrity = digests
	r.Versions = t.tags(ctx, p.Name)
	return r, nil
}

// digests returns the digest of what the reference names. Only "docker manifest",
// which is there without plugins, does not know the digest of a list; it has those
// of the images for each platform.
func (t *Tools) digests(ctx context.Context, p Package) ([]string, error) {
	if isDigest(p.Version) {
		return []string{p.Version}, nil // it says itself what it is
	}
	asks := []struct {
		tool string
		args []string
		read func([]byte) []string
	}{
		{"docker", []string{"buildx", "imagetools", "inspect", "--format", "{{json .Manifest}}", p.String()}, indexDigest},
		{"docker", []string{"manifest", "inspect", "--verbose", p.String()}, platformDigests},
		{"skopeo", []string{"inspect", "--no-tags", "--format", "{{.Digest}}", "docker://" + p.String()}, plainDigest},
		{"crane", []string{"digest", p.String()}, plainDigest},
	}
	var last error = &missingError{"docker"}
	for _, ask := range asks {
		out, err := t.run(ctx, "", ask.tool, ask.args...)
		if missing := new(missingError); errors.As(err, &missing) {
			continue
		}
		if err == nil {
			if found := ask.read(out); len(found) > 0 {
				return found, nil
			}
			err = fmt.Errorf("%s prints no digest", ask.tool)
		}
		if failed := new(statusError); errors.As(err, &failed) && noManifest(failed.all) {
			err = &NotFoundError{p}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		last = err
	}
	return nil, last
}

func noManifest(text string) bool {
	return slices.ContainsFunc([]string{"no such manifest", "manifest unknown", "MANIFEST_UNKNOWN", "NAME_UNKNOWN"}, func(s string) bool { return strings.Contains(text, s) })
}

// tags lists the tags of an image, nil where nothing is installed that can.
func (t *Tools) tags(ctx context.Context, name string) []string {
	if out, err := t.run(ctx, "", "skopeo", "list-tags", "docker://"+name); err == nil {
		var list struct{ Tags []string }
		if json.Unmarshal(out, &list) == nil {
			return list.Tags
		}
	}
	if out, err := t.run(ctx, "", "crane", "ls", name); err == nil {
		return strings.Fields(string(out))
	}
	return nil
}

func indexDigest(out []byte) []string {
	var m struct{ Digest string }
	if json.Unmarshal(out, &m) != nil {
		return nil
	}
	return plainDigest([]byte(m.Digest))
}

func plainDigest(out []byte) []string {
	if d := strings.TrimSpace(string(out)); isDigest(d) && ociTag().MatchString(d) {
		return []string{d}
	}
	return nil
}

func platformDigests(out []byte) []string {
	var all oneOrMany[struct{ Descriptor struct{ Digest string } }]
	if json.Unmarshal(out, &all) != nil {
		return nil
	}
	var digests []string
	for _, m := range all {
		digests = append(digests, plainDigest([]byte(m.Descriptor.Digest))...)
	}
	return digests
}
