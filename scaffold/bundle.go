package scaffold

import (
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// bundle writes the command line that the manifest of a bundle has. Its program can do anything
// that the user can, so what it is started with is not checked as that of a runner is.
func (b *builder) bundle(p *registry.Package) {
	if fault := bundleFault(p, b.o.Registry != ""); fault != "" {
		b.refuse(RuleIdentifier, fault)
		return
	}
	if b.o.Bundle == nil {
		b.refuse(RuleBundle, "what its bundle (mcpb) runs is known once add has downloaded it")
		return
	}
	of, err := b.o.Bundle(*p)
	if err != nil {
		b.refuse(RuleBundle, err.Error())
		return
	}
	if of.Elsewhere != "" {
		b.danger(RuleBundle, of.Elsewhere)
	}
	own := of.Package
	b.gather(&own)
	b.pkg, b.ownCode = &own, true
	b.environment(own.EnvironmentVariables)
	b.command, b.cwd = of.Command, config.Escape(of.Dir)
	b.args = texts(b.arguments(own.PackageArguments, false))
	if b.o.Env != nil {
		b.moreEnvironment()
	}
	b.plan.Reference = p.Identifier
	b.plan.Runner = b.command
}

// isSHA256 reports whether a text is the digest of a file.
func isSHA256(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 32
}

// bundleFault returns why a bundle cannot be downloaded, "" if it can: it comes over https, or
// from this machine. A document that is no record may name a file.
func bundleFault(p *registry.Package, record bool) string {
	if !record && !strings.Contains(p.Identifier, "://") {
		return ""
	}
	u, err := url.Parse(p.Identifier)
	switch {
	case err != nil || u.Host == "":
		return "the identifier of its bundle is not a URL"
	case u.Scheme != "https" && (u.Scheme != "http" || !origin.IsLoopback(u.Hostname())):
		return "its bundle comes over " + u.Scheme + ", not https"
	}
	return strings.Join(origin.AddressFaults(u), ", ")
}
