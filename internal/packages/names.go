package packages

import (
	"fmt"
	"regexp"
	goruntime "runtime"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// What may be handed to a tool. None of it begins with a dash, holds a space or a
// character of a shell, or is an address, a file or a repository to the tool.
var (
	npmName     = lazy.Regexp(`^(@[A-Za-z0-9-][A-Za-z0-9._~-]*/)?[A-Za-z0-9][A-Za-z0-9._~-]*$`)
	npmVersion  = lazy.Regexp(`^[\^~]?[A-Za-z0-9][A-Za-z0-9.+_-]*$`)
	pypiName    = lazy.Regexp(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9._,-]+\])?$`)
	pypiVersion = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9.!+_-]*$`)
	ociName     = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
	ociTag      = lazy.Regexp(`^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$`)
	address     = lazy.Regexp(`^https?://[A-Za-z0-9.\[\]:_/~-]+$`)
)

// longestName is the widest of the registries' bounds, that of an image.
const longestName = 255

// fault returns why a package cannot be looked up, "" where it can.
func fault(p Package) string {
	grammars := map[string][2]func() *regexp.Regexp{typeNPM: {npmName, npmVersion}, typePyPI: {pypiName, pypiVersion}, typeOCI: {ociName, ociTag}}
	grammar, known := grammars[p.Type]
	switch {
	case !known:
		return fmt.Sprintf("packages of the type %q are not looked up", p.Type)
	case len(p.Name) > longestName || !grammar[0]().MatchString(p.Name) || isFile(p):
		return fmt.Sprintf("%q is not the name of a package", p.Name)
	case p.Version != "" && (len(p.Version) > longestName || !grammar[1]().MatchString(p.Version)):
		return fmt.Sprintf("%q is not a version", p.Version)
	case goruntime.GOOS == "windows" && strings.Contains(p.Version, "^"):
		return "npm is a batch file here, which does not take a range with ^"
	case p.Base != "" && !address().MatchString(p.Base):
		return fmt.Sprintf("%q is not the address of a package registry", p.Base)
	}
	return ""
}

// isFile reports whether npm would read a file of this name.
func isFile(p Package) bool {
	lower := strings.ToLower(p.Name)
	return p.Type == typeNPM && (strings.HasSuffix(lower, ".tgz") || strings.HasSuffix(lower, ".tar.gz") || strings.HasSuffix(lower, ".tar"))
}

func isDigest(version string) bool {
	return strings.HasPrefix(version, "sha256:") || strings.HasPrefix(version, "sha512:")
}
