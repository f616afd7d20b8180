package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// soon is how long before its end something is worth a warning.
const soon = 14 * 24 * time.Hour

// checks are those of one file of settings.
type checks struct {
	*doctor.Report
	a   settings.Access
	now time.Time
}

// accessReports returns what is found of the settings, and of the policies with what they name
// that does not exist; nothing where they let nobody in over
// the network and have no policies, or where servers is "": no file of servers is looked
// at. Issuers are asked for their keys.
func accessReports(ctx context.Context, servers string, s settings.Settings, getenv func(string) string, unmatched []settings.Unmatched) []*doctor.Report {
	a := s.Serve.Access
	if servers == "" || !a.Required() && a.TLS.Cert == "" && !a.Rules {
		return nil
	}
	c := checks{&doctor.Report{Name: s.File(), OK: true}, a, time.Now()}
	c.policies(unmatched)
	c.tls()
	c.tokens(getenv)
	c.proxy()
	c.issuers(ctx)
	c.login(ctx)
	return []*doctor.Report{c.Report}
}

// policies checks who may do what.
func (c *checks) policies(unmatched []settings.Unmatched) {
	if !c.a.Rules {
		if c.a.Required() {
			c.Warn("access", "whoever has a credential may use every server and tool", `mcpctl config sources  # shows where config.yaml is; access: {rules: [{allow: "*", to: "*", only: read-only}]} allows reading alone`)
		}
		return
	}
	read, err := settings.ReadPolicies(c.Name, c.a.Required())
	var decides gate.Config
	if err == nil {
		decides, err = read.Gate()
	}
	if err != nil {
		fix := "mcpctl policy check"
		if hint := ui.HintOf(err); hint != "" {
			fix += "  # " + hint
		}
		c.Fail("access", "config", err.Error(), fix)
		return
	}
	for i := range unmatched {
		problem := unmatched[i].Problem()
		if fix := "mcpctl policy check  # " + problem.Remedy; unmatched[i].Stops {
			c.Fail("access", "config", problem.Error(), fix)
		} else {
			c.Warn("access", problem.Error(), fix)
		}
	}
	c.Pass("access", plain.Count(len(decides.Set.Policies()), "policy")+", generation "+gateway.StatusGeneration(decides.Set.Digest()))
}

// tls checks the certificate of serve, and the authorities of clients.
func (c *checks) tls() {
	if c.a.TLS.Cert == "" {
		return
	}
	const edit = "mcpctl config sources  # shows where config.yaml is; "
	f, err := gateway.OpenTLSFiles(c.a.TLS, slog.New(slog.DiscardHandler))
	if err != nil {
		c.Fail("tls", "config", err.Error(), edit+"cert, key, clientCA and crl of serve.tls are files in PEM")
		return
	}
	found := len(c.Checks)
	const others = 0o007 // a group may be there for those who need it
	if info, err := os.Stat(c.a.TLS.Key); err == nil && goruntime.GOOS != "windows" && info.Mode().Perm()&others != 0 {
		c.Fail("tls", "config", fmt.Sprintf("every user of this machine has access to the key (mode %04o)", info.Mode().Perm()), "chmod 600 "+c.a.TLS.Key)
	}
	leaf := f.Leaf()
	c.ends("the certificate", leaf.NotAfter, showing(c.a.TLS.Cert))
	for _, host := range c.a.Hosts {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if err := leaf.VerifyHostname(host); err != nil {
			c.Warn("tls", "the certificate is not for "+host+", which serve.hosts has: clients will refuse it", edit+"remove the name, or get a certificate for it")
		}
	}
	if trust := f.Trust(); trust != nil {
		for _, root := range trust.Roots() {
			c.ends("the authority "+nameOf(root), root.NotAfter, showing(c.a.TLS.ClientCA))
		}
		if until := trust.ListsUntil(); !until.IsZero() {
			c.ends("a list of revoked certificates", until, "openssl crl -in "+c.a.TLS.CRL+" -noout -nextupdate  # get a new one from its issuer")
		}
	}
	if len(c.Checks) == found {
		c.Pass("tls", "the certificate is valid until "+leaf.NotAfter.UTC().Format(time.DateOnly))
	}
}

// showing returns the command that shows when the certificate of a file ends.
func showing(path string) string {
	return "openssl x509 -in " + path + " -noout -enddate  # get a new one from its issuer"
}

func nameOf(c *x509.Certificate) string {
	if c.Subject.CommonName != "" {
		return c.Subject.CommonName
	}
	return c.Subject.String()
}

// ends says that something has ended, or will soon.
func (c *checks) ends(what string, at time.Time, fix string) {
	day := at.UTC().Format(time.DateOnly)
	switch {
	case c.now.After(at):
		c.Fail("tls", "config", what+" has ended on "+day, fix)
	case c.now.Add(soon).After(at):
		c.Warn("tls", what+" ends on "+day, fix)
	}
}

// tokens checks the static tokens.
func (c *checks) tokens(getenv func(string) string) {
	dir := config.StateDir(getenv)
	if c.a.Providers.Token == nil || c.a.Providers.Token.List != nil || dir == "" {
		return
	}
	f := authn.NewTokenFile(filepath.Join(dir, authn.TokenFileName))
	all, err := f.List()
	if err != nil {
		c.Fail("tokens", "config", err.Error(), "mcpctl access token list")
		return
	}
	var expired []string
	for _, t := range all {
		if !t.Expires.IsZero() && c.now.After(t.Expires) {
			expired = append(expired, t.ID)
		}
	}
	switch {
	case len(all) == len(expired):
		c.Warn("tokens", "no token is valid", "mcpctl access token add NAME")
	case expired != nil:
		c.Warn("tokens", plain.Count(len(expired), "token")+" expired", "mcpctl access token revoke "+strings.Join(expired, " "))
	default:
		c.Pass("tokens", plain.Count(len(all), "token"))
	}
	const writers = 0o022
	if info, err := os.Stat(f.Path()); err == nil && goruntime.GOOS != "windows" && info.Mode().Perm()&writers != 0 {
		c.Fail("tokens", "config", fmt.Sprintf("other users of this machine can add tokens (mode %04o)", info.Mode().Perm()), "chmod 600 "+f.Path())
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Fail("tokens", "config", err.Error(), "")
	}
}

// proxy checks who may name users.
func (c *checks) proxy() {
	x := c.a.Providers.Proxy
	if x == nil {
		return
	}
	for _, network := range x.Networks {
		if network.Addr().IsLoopback() {
			c.Warn("proxy", fmt.Sprintf("every user of this machine can name any user: proxy.from has %s", network), "mcpctl config sources  # shows where config.yaml is; let the proxy connect to a socket, with from: [unix]")
		}
	}
}
