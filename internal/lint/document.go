package lint

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/registry"
)

// The members of each kind of object.
const (
	serverMembers     = "$schema name version title description websiteUrl repository icons packages remotes _meta"
	repositoryMembers = "url source id subfolder"
	iconMembers       = "src mimeType sizes theme"
	packageMembers    = "registryType registryBaseUrl identifier version fileSha256 runtimeHint transport runtimeArguments packageArguments environmentVariables"
	remoteMembers     = "type url headers variables"
	inputMembers      = "description isRequired isSecret format value default placeholder choices"
	namedMembers      = inputMembers + " name variables"
	argumentMembers   = namedMembers + " type valueHint isRepeated"
)

// longest is how many characters a title or a description may have.
const longest = 100

var (
	// namePattern is the registry's rule for names.
	namePattern = lazy.Regexp(`^[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]$`)
	// rangePattern finds what looks like a range of versions.
	rangePattern = lazy.Regexp(`^[\^~<>=]|[<>|*]|\s-\s|(^|\.)[xX](\.|$)`)
)

// document looks at what stands outside of packages and remotes, and into those.
func (l *linter) document(doc *node) {
	l.members(doc, serverMembers)
	l.members(doc.get("repository"), repositoryMembers)
	switch schema := doc.get("$schema"); {
	case schema == nil:
		l.add("schema", doc, "$schema is missing")
	case strings.Contains(schema.text, "/2025-07-09/"):
		l.addError("schema", schema, "$schema is %s, which the registry takes no more", schema)
	case !strings.Contains(schema.text, "/"+newestSchema+"/"):
		l.add("schema", schema, "$schema is %s", schema)
	}
	switch name := doc.get("name"); {
	case name == nil:
		l.add("name", doc, "the name is missing")
	case !namePattern().MatchString(name.text) || len(name.text) > 200:
		l.add("name", name, "%s is not the name of a server", name)
	}
	switch version := doc.get("version"); {
	case version == nil:
		l.add("version", doc, "the version is missing")
	case isRange(version.text):
		l.add("version", version, "%s is not an exact version", version)
	case registry.CompareVersions(version.text, "0.0.0-0") < 0:
		l.add("version-order", version, "%s is not a semantic version", version)
	}
	switch text := doc.get("description"); {
	case text == nil || text.text == "":
		l.add("description", text.either(doc), "the description is missing")
	case utf8.RuneCountInString(text.text) > longest:
		l.add("description", text, "the description has %d characters", utf8.RuneCountInString(text.text))
	}
	if title := doc.get("title"); title != nil && (title.text == "" || utf8.RuneCountInString(title.text) > longest) {
		l.add("title", title, "the title has %d characters", utf8.RuneCountInString(title.text))
	}
	addresses := []*node{doc.get("websiteUrl"), doc.get("repository").get("url")}
	for _, icon := range doc.list("icons") {
		l.members(icon, iconMembers)
		addresses = append(addresses, icon.get("src"))
	}
	for _, at := range addresses {
		if at != nil && !isHTTPS(at.text) {
			l.add("website", at, "%s is not an https address", at)
		}
	}
	if r := doc.get("repository"); r != nil {
		host := r.textOf("source") + ".com"
		if u, err := url.Parse(r.textOf("url")); err == nil && (host == "github.com" || host == "gitlab.com") && u.Hostname() != host && u.Hostname() != "www."+host {
			l.add("website", r.get("url").either(r), "the address is not one of %s", host)
		}
	}
	for _, p := range doc.list("packages") {
		l.pkg(p)
	}
	for _, r := range doc.list("remotes") {
		l.remote(r)
	}
}

func (n *node) either(other *node) *node {
	if n != nil {
		return n
	}
	return other
}

func isRange(version string) bool {
	return version == "" || version == "latest" || len(version) > 255 || rangePattern().MatchString(version)
}

func isHTTPS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

// members reports members that an object should not have.
func (l *linter) members(n *node, known string) {
	if n == nil {
		return
	}
	names := strings.Fields(known)
	for _, m := range n.members {
		if slices.Contains(names, m.name) {
			continue
		}
		at := slices.IndexFunc(names, func(name string) bool { return registry.SnakeCase(name) == m.name })
		if at >= 0 {
			l.addAt("old-spelling", m.offset, m.value.pointer, m.name+" is spelt "+names[at]+" now")
			continue
		}
		message := "there is no member " + m.name
		if near := plain.Nearest(m.name, names, 1); len(near) > 0 {
			message += "; " + near[0] + " is meant perhaps"
		}
		l.addAt("unknown-member", m.offset, m.value.pointer, message)
	}
}
