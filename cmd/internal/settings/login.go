package settings

import (
	"slices"

	"go.yaml.in/yaml/v3"
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
	if why := addressFault(l.Issuer); why != "" {
		return f.problemAt(n, "serve.login.issuer is "+why, example)
	}
	if l.ClientSecret != "" && !variableName().MatchString(l.ClientSecret) {
		return f.problemAt(n, "serve.login.clientSecret is plain text", `name a variable that has it, as in clientSecret: "${LOGIN_SECRET}"`)
	}
	if l.Scopes == nil {
		l.Scopes = []string{"profile", "email"}
	}
	return nil
}

// checkLogin checks that those who log in are principals of serve.auth.
func (f *file) checkLogin(a *Access) error {
	l := a.Login.Issuer
	if l == "" || slices.ContainsFunc(a.Providers.Issuers(), func(i Issuer) bool { return i.Issuer == l }) {
		return nil
	}
	return f.problemAt(f.node("serve.login"), "serve.login.issuer is not an issuer of serve.auth: nobody who logs in would be known there", "add to serve.auth: - jwt: {issuer: "+l+"}")
}
