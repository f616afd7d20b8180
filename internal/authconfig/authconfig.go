// Package authconfig reads the auth object of an entry of servers.json: how the
// credentials of one server are obtained. It does nothing with it.
package authconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/secret"
)

// Grants of [Config].
const (
	GrantCode              = "authorization_code"
	GrantClientCredentials = "client_credentials"
	GrantJWTBearer         = "jwt_bearer"
	GrantEnterprise        = "enterprise"
	GrantTokenExchange     = "token_exchange"
	GrantPassword          = "password"
	GrantRefreshToken      = "refresh_token"
)

// Ways in which a client's secret is sent, of [Config].
const (
	AuthStyleHeader = "header" // client_secret_basic
	AuthStyleBody   = "body"   // client_secret_post
)

// Config is how the credentials of one server are obtained. The zero value has a
// person log in.
type Config struct {
	Grant             string // "" is GrantCode
	ClientID          string
	ClientSecret      secret.Text
	ClientKey         Key
	ClientMetadataURL string
	Scopes            []string
	Resource          string // "" is what the server says
	Issuer            string // the only one that is accepted; "" is any
	// TokenEndpoint and AuthorizationEndpoint are in the place of what the issuer says,
	// "" for that.
	TokenEndpoint, AuthorizationEndpoint string
	// Audience is whom a token is for, beside the resource; "" for none.
	Audience string
	// ExtraParams are sent along with requests for a token, and in the address of the
	// login page those that do not look secret.
	ExtraParams map[string]secret.Text
	// AuthStyle is how the client's secret is sent; "" is as the issuer says.
	AuthStyle    string
	Username     string // of grant password
	Password     secret.Text
	RefreshToken secret.Text // of grant refresh_token
	CallbackPort int         // 0 is one of ours, negative any free one
	Assertion    secret.Text
	TokenFile    string   // holds the assertion, or with no grant the token itself
	Command      []string // prints a token
	DPoP         bool     // binds tokens to a key
	IDP          IDP
	Each         Each // of the principals has credentials of their own
}

// Key is a private key.
type Key struct {
	Text secret.Text // PEM text or the path of a PEM file
	Alg  string      // of its signature; "" follows from the key
}

// IDP is where the people of an enterprise log in.
type IDP struct {
	Issuer, TokenEndpoint, ClientID string
	ClientSecret, IDToken           secret.Text
}

// Override is what a command says of how credentials are obtained.
type Override struct {
	Config Config
	// Part says that only some members are given: those that are not zero. The others
	// are the entry's.
	Part bool
}

// Apply returns what holds for an entry with a configuration of its own. A nil Override is
// that of the entry.
func (g *Override) Apply(entry Config) Config {
	if g == nil {
		return entry
	}
	if !g.Part {
		return g.Config
	}
	entry.ClientID = cmp.Or(g.Config.ClientID, entry.ClientID)
	entry.ClientMetadataURL = cmp.Or(g.Config.ClientMetadataURL, entry.ClientMetadataURL)
	entry.CallbackPort = cmp.Or(g.Config.CallbackPort, entry.CallbackPort)
	if !g.Config.ClientSecret.IsZero() {
		entry.ClientSecret = g.Config.ClientSecret
	}
	if len(g.Config.Scopes) > 0 {
		entry.Scopes = g.Config.Scopes
	}
	return entry
}

// form is the object as written.
type form struct {
	Grant             string   `json:"grant"`
	ClientID          string   `json:"clientId"`
	ClientSecret      string   `json:"clientSecret"`
	ClientKey         string   `json:"clientKey"`
	KeyAlg            string   `json:"keyAlg"`
	ClientMetadataURL string   `json:"clientMetadataUrl"`
	Scopes            []string `json:"scopes"`
	Resource          string   `json:"resource"`
	Issuer            string   `json:"issuer"`

	TokenEndpoint         string            `json:"tokenEndpoint"`
	AuthorizationEndpoint string            `json:"authorizationEndpoint"`
	Audience              string            `json:"audience"`
	ExtraParams           map[string]string `json:"extraParams"`
	AuthStyle             string            `json:"authStyle"`
	Username              string            `json:"username"`
	Password              string            `json:"password"`
	RefreshToken          string            `json:"refreshToken"`

	CallbackPort *int     `json:"callbackPort"`
	Assertion    string   `json:"assertion"`
	TokenFile    string   `json:"tokenFile"`
	Command      []string `json:"command"`
	DPoP         bool     `json:"dpop"`
	IDP          struct {
		Issuer        string `json:"issuer"`
		TokenEndpoint string `json:"tokenEndpoint"`
		ClientID      string `json:"clientId"`
		ClientSecret  string `json:"clientSecret"`
		IDToken       string `json:"idToken"`
	} `json:"idp"`
	eachForm
}

// Parse reads an auth object. Its errors quote no value.
func Parse(object []byte) (Config, error) {
	var f form
	d := json.NewDecoder(bytes.NewReader(object))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Config{}, explain(err)
	}
	c := Config{
		Grant: f.Grant, ClientID: f.ClientID, ClientSecret: secret.New(f.ClientSecret), ClientKey: Key{secret.New(f.ClientKey), f.KeyAlg},
		ClientMetadataURL: f.ClientMetadataURL, Scopes: f.Scopes, Resource: f.Resource, Issuer: f.Issuer,
		Assertion: secret.New(f.Assertion), TokenFile: f.TokenFile, Command: f.Command, DPoP: f.DPoP,
		IDP:  IDP{f.IDP.Issuer, f.IDP.TokenEndpoint, f.IDP.ClientID, secret.New(f.IDP.ClientSecret), secret.New(f.IDP.IDToken)},
		Each: Each{f.As == AsPrincipal, f.SubjectIssuer, f.Subject, secret.New(f.ActorToken)},

		TokenEndpoint: f.TokenEndpoint, AuthorizationEndpoint: f.AuthorizationEndpoint, Audience: f.Audience, AuthStyle: f.AuthStyle,
		Username: f.Username, Password: secret.New(f.Password), RefreshToken: secret.New(f.RefreshToken),
	}
	if len(f.ExtraParams) > 0 {
		c.ExtraParams = make(map[string]secret.Text, len(f.ExtraParams))
	}
	for name, value := range f.ExtraParams {
		c.ExtraParams[name] = secret.New(value)
	}
	if err := f.check(&c); err != nil {
		return Config{}, err
	}
	if p := f.CallbackPort; p != nil {
		if c.CallbackPort = *p; *p == 0 {
			c.CallbackPort = -1
		}
		if *p < 0 || *p > 65535 {
			return Config{}, errors.New("callbackPort is not a port")
		}
	}
	return c, c.check()
}

// Secrets returns what must not be shown.
func (c *Config) Secrets() []secret.Text {
	var out []secret.Text
	for _, t := range []secret.Text{c.ClientSecret, c.Assertion, c.IDP.ClientSecret, c.IDP.IDToken, c.Each.ActorToken, c.Password, c.RefreshToken} {
		if !t.IsZero() {
			out = append(out, t)
		}
	}
	for name, t := range c.ExtraParams {
		if secret.LooksName(name) && !t.IsZero() {
			out = append(out, t)
		}
	}
	if strings.Contains(c.ClientKey.Text.Reveal(), "-----BEGIN") { // else it is a path
		out = append(out, c.ClientKey.Text)
	}
	return out
}

// Named returns the authorization server that the entry names: its issuer, else its token
// endpoint; "" for none.
func (c *Config) Named() string { return cmp.Or(c.Issuer, c.TokenEndpoint) }

// NeedsNamed reports whether there is something that only an authorization server gets
// that the entry names: whoever else had it could use it there.
func (c *Config) NeedsNamed() bool {
	return !c.ClientSecret.IsZero() || !c.Assertion.IsZero() || !c.Password.IsZero() || !c.RefreshToken.IsZero() || c.Grant == GrantJWTBearer && c.TokenFile != ""
}

// explain says what is wrong without a value of the object.
func explain(err error) error {
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typ):
		return fmt.Errorf("%s is a %s, want %s", typ.Field, typ.Value, typ.Type)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return errors.New("unknown key " + strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return errors.New("it is not a JSON object")
}

// check returns why a configuration cannot be used, nil where it can.
func (c *Config) check() error {
	type need struct {
		what string
		set  bool
	}
	var needs []need
	switch c.Grant {
	case GrantTokenExchange:
		needs = []need{{"issuer or tokenEndpoint", c.Named() != ""}, {"issuer or subjectIssuer", c.SubjectIssuer() != ""}, {"clientId", c.ClientID != ""}}
	case "", GrantCode:
		if len(c.Command) > 0 && c.TokenFile != "" {
			return errors.New("command and tokenFile both say where the token comes from")
		}
		if c.TokenEndpoint != "" && c.AuthorizationEndpoint == "" && c.Issuer == "" {
			return errors.New("tokenEndpoint needs authorizationEndpoint or issuer: where a person logs in")
		}
		if c.AuthorizationEndpoint != "" && c.Named() == "" {
			return errors.New("authorizationEndpoint needs tokenEndpoint or issuer: where its codes are exchanged")
		}
		if (c.TokenEndpoint != "" || c.AuthorizationEndpoint != "") && c.ClientID == "" {
			return errors.New("tokenEndpoint and authorizationEndpoint need clientId: a registration belongs to an issuer")
		}
	case GrantClientCredentials:
		needs = []need{{"clientId", c.ClientID != ""}, {"clientSecret or clientKey", !c.ClientSecret.IsZero() || !c.ClientKey.Text.IsZero()}}
	case GrantJWTBearer:
		needs = []need{{"assertion or tokenFile", !c.Assertion.IsZero() || c.TokenFile != "" || c.Each.On}}
		if c.Each.On {
			needs = append(needs, need{"clientId", c.ClientID != ""}, need{"clientKey", !c.ClientKey.Text.IsZero()}, need{"subject", c.Each.Subject != ""})
		}
	case GrantEnterprise:
		needs = []need{
			{"clientId", c.ClientID != ""},
			{"idp.idToken", !c.IDP.IDToken.IsZero() || c.Each.On},
			{"idp.clientId", c.IDP.ClientID != ""},
			{"idp.tokenEndpoint or idp.issuer", c.IDP.TokenEndpoint != "" || c.IDP.Issuer != ""},
			{"idp.issuer or subjectIssuer", !c.Each.On || c.SubjectIssuer() != ""},
		}
	case GrantPassword:
		needs = []need{{"username", c.Username != ""}, {"password", !c.Password.IsZero()}}
	case GrantRefreshToken:
		needs = []need{{"refreshToken", !c.RefreshToken.IsZero()}}
	default:
		all := []string{GrantCode, GrantClientCredentials, GrantJWTBearer, GrantEnterprise, GrantTokenExchange, GrantPassword, GrantRefreshToken}
		slices.Sort(all)
		return fmt.Errorf("grant is none of %s", strings.Join(all, ", "))
	}
	for _, n := range needs {
		if !n.set {
			return fmt.Errorf("grant %s needs %s", c.Grant, n.what)
		}
	}
	return c.checkRequest()
}

// checkRequest returns what of a request for a token is wrong, nil for nothing.
func (c *Config) checkRequest() error {
	code := c.Grant == "" || c.Grant == GrantCode
	for _, m := range []struct {
		name, grant string
		set, may    bool
	}{
		{"authorizationEndpoint", GrantCode, c.AuthorizationEndpoint != "", code},
		{"username", GrantPassword, c.Username != "", c.Grant == GrantPassword},
		{"password", GrantPassword, !c.Password.IsZero(), c.Grant == GrantPassword},
		{"refreshToken", GrantRefreshToken, !c.RefreshToken.IsZero(), c.Grant == GrantRefreshToken},
	} {
		if m.set && !m.may {
			return fmt.Errorf("%s needs grant %s", m.name, m.grant)
		}
	}
	if s := c.AuthStyle; s != "" && s != AuthStyleHeader && s != AuthStyleBody {
		return errors.New("authStyle is none of body, header")
	}
	for name, at := range map[string]string{"issuer": c.Issuer, "tokenEndpoint": c.TokenEndpoint, "authorizationEndpoint": c.AuthorizationEndpoint} {
		if err := checkEndpoint(name, at); err != nil {
			return err
		}
	}
	for name := range c.ExtraParams {
		if name == "" || slices.Contains(ownParams(), name) {
			return fmt.Errorf("extraParams: %q is a parameter that mcpctl sets itself", name)
		}
	}
	return nil
}

// checkEndpoint returns why a text cannot be an address to ask. Placeholders are not known
// yet.
func checkEndpoint(name, at string) error {
	if at == "" || strings.Contains(at, "${") {
		return nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "" {
		return errors.New(name + " is not an address such as https://login.example.com")
	}
	return nil
}

// ownParams are those that requests have anyway (RFC 6749, 7523, 7636, 8628, 8693, 8707).
func ownParams() []string {
	return []string{
		"grant_type", "response_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope", "resource", "audience", "redirect_uri",
		"state", "code", "code_challenge", "code_challenge_method", "code_verifier", "refresh_token", "username", "password", "assertion", "device_code",
		"subject_token", "subject_token_type", "actor_token", "actor_token_type", "requested_token_type",
	}
}
