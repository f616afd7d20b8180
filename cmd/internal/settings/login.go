package settings

import (
	"fmt"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/runtime/lazy"
	"github.com/mcpctl/mcpctl/runtime/origin"
)

// Login is the OpenID provider that people log in at on the pages of serve. The zero value is
// none.
type Login struct {
	Issuer   string `yaml:"issuer"`
	ClientID string `yaml:"clientId"`
	// ClientSecret is ${VARIABLE}, "" for a public client.
	ClientSecret string `yaml:"clientSecret"`
	// Scopes are asked for beside openid; profile and email without any.
	Scopes []string `yaml:"scopes"`
}

var aVariable = lazy.Regexp(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

func (f *file) serveLogin(n *yaml.Node, a *Access) error {
	const example = `as in login: {issuer: https://idp.example.com, clientId: mcpctl, clientSecret: "${LOGIN_SECRET}"}`
	l := &a.Login
	if err := f.decode("serve.login", n, l, example); err != nil {
		return err
	}
	switch {
	case l.Issuer == "":
		return f.problemAt(n, "serve.login needs issuer", example)
	case l.ClientID == "":
		return f.problemAt(n, "serve.login needs clientId", example)
	}
	if why := issuerFault(l.Issuer); why != "" {
		return f.problemAt(n, fmt.Sprintf("serve.login.issuer is %q, %s", l.Issuer, why), example)
	}
	if l.ClientSecret != "" && !aVariable().MatchString(l.ClientSecret) {
		return f.problemAt(n, "serve.login.clientSecret is plain text", `name a variable that has it, as in clientSecret: "${LOGIN_SECRET}"`)
	}
	if l.Scopes == nil {
		l.Scopes = []string{"profile", "email"}
	}
	return nil
}

// issuerFault returns what is wrong with the URL of an issuer, "" for nothing.
func issuerFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "which is not the URL of an issuer"
	case u.Scheme == "https", u.Scheme == "http" && origin.IsLoopback(strings.ToLower(u.Hostname())):
		return ""
	}
	return "which is neither https nor on this machine"
}
