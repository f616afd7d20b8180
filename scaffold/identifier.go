package scaffold

import (
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
)

// Grammars of names and versions, each as its registry defines it. Anything else
// does not come from the registry: runners fetch addresses, repositories, files
// and folders by other words in the same place.
const (
	// The name field of package.json, capitals of old packages included.
	npmName = `(@[A-Za-z0-9-][A-Za-z0-9._~-]*/)?[A-Za-z0-9][A-Za-z0-9._~-]*`
	// Semantic Versioning 2.0, where parts may be missing at the end.
	semver = `v?[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?`
	// PEP 508, identifier.
	pypiName = `[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?`
	extras   = `\[` + pypiName + `(,` + pypiName + `)*\]`
	// PEP 440, appendix B.
	pypiVersion = `(?i:v?([0-9]+!)?[0-9]+(\.[0-9]+)*([-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?[0-9]*)?(-[0-9]+|[-_.]?(post|rev|r)[-_.]?[0-9]*)?([-_.]?dev[-_.]?[0-9]*)?(\+[a-z0-9]+([-_.][a-z0-9]+)*)?)`
	// PEP 508 without addresses, markers and white space.
	specifier       = `(===?|~=|!=|<=|>=|<|>)` + pypiVersion + `(\.\*)?`
	requirementSpec = pypiName + `(` + extras + `)?(@` + pypiVersion + `|` + specifier + `(,` + specifier + `)*)?`
	// NuGet's package ids and versions, which may have four numbers.
	nugetName    = `[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*`
	nugetVersion = `[0-9]+(\.[0-9]+){0,3}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?`
	crateName    = `[A-Za-z][A-Za-z0-9_-]{0,63}`
	// distribution/reference: a host has a dot or a port, or is localhost.
	ociPart = `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
	ociHost = `(localhost|[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+|[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*:[0-9]+|localhost:[0-9]+)`
	ociName = `(` + ociHost + `/)?` + ociPart + `(/` + ociPart + `)*`
	ociTag  = `(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[a-f0-9]{64}|@sha512:[a-f0-9]{128})?`
)

// longestName is the widest of the registries' bounds, that of an image.
const longestName = 255

// identifierFault returns why a package's identifier and version are not of
// their registry, "" where they are.
func identifierFault(p *registry.Package) string {
	if len(p.Identifier) > longestName || len(p.Version) > longestName {
		return "the identifier or the version is longer than any of its registry"
	}
	if p.RegistryType == "oci" {
		if ref, _ := image(p); !matches(ociName+ociTag, ref) || localImage(ref) {
			return fmt.Sprintf("%q is not the name of an image in a registry", ref)
		}
		return ""
	}
	id, own := cutVersion(p.RegistryType, p.Identifier)
	name, version := npmName, semver
	switch p.RegistryType {
	case "pypi":
		name, version = pypiName+`(`+extras+`)?`, pypiVersion
	case "nuget":
		name, version = nugetName, nugetVersion
	case "cargo":
		name = crateName
	}
	lower := strings.ToLower(id)
	isFile := p.RegistryType == "npm" && (strings.HasSuffix(lower, ".tgz") || strings.HasSuffix(lower, ".tar.gz") || strings.HasSuffix(lower, ".tar"))
	if !matches(name, id) || isFile {
		return fmt.Sprintf("%q is not the name of a package in a registry (%s), but may be an address, a repository or a file", id, p.RegistryType)
	}
	for _, v := range []string{own, p.Version} {
		if v != "" && v != "latest" && !matches(version, v) {
			return fmt.Sprintf("%q is not a version (%s), but may lead to another package", v, p.RegistryType)
		}
	}
	return ""
}

// localImage reports whether podman would read an image from a file or another
// store: TRANSPORT:PATH has the form of NAME:TAG.
func localImage(ref string) bool {
	name, _, tagged := strings.Cut(ref, ":")
	switch name {
	case "dir", "docker-archive", "docker-daemon", "oci", "oci-archive", "containers-storage", "ostree", "sif", "tarball":
		return tagged
	}
	return false
}
