// Package authconfig reads the auth object of an entry of servers.json: how the
// credentials of one server are obtained. It does nothing with it.
package authconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/secret"
)

// Grants of [Config].
const (
	GrantCode              = "authorization_code"
	GrantClientCredentials = "client_credentials"
	GrantJWTBearer         = "jwt_bearer"
	GrantEnterprise        = "enterprise"
	GrantTokenExchange     = "token_exchange"
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
	CallbackPort      int    // 0 is one of ours, negative any free one
	Assertion         secret.Text
	TokenFile         string   // holds the assertion, or with no grant the token itself
	Command           []string // prints a token
	DPoP              bool     // binds tokens to a key
	IDP               IDP
	Each              Each // of the principals has credentials of their own
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

// Given is what a command says of how credentials are obtained.
type Given struct {
	Config Config
	// Part says that only some members are given: those that are not zero. The others
	// are the entry's.
	Part bool
}

// Over returns what holds for an entry with a configuration of its own. A nil Given is
// that of the entry.
func (g *Given) Over(entry Config) Config {
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
	CallbackPort      *int     `json:"callbackPort"`
	Assertion         string   `json:"assertion"`
	TokenFile         string   `json:"tokenFile"`
	Command           []string `json:"command"`
	DPoP              bool     `json:"dpop"`
	IDP               struct {
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
		Each: Each{f.As == AsPrincipal, f.Audience, f.TokenEndpoint, f.SubjectIssuer, f.Subject, secret.New(f.ActorToken)},
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
	for _, t := range []secret.Text{c.ClientSecret, c.Assertion, c.IDP.ClientSecret, c.IDP.IDToken, c.Each.ActorToken} {
		if !t.IsZero() {
			out = append(out, t)
		}
	}
	if strings.Contains(c.ClientKey.Text.Reveal(), "-----BEGIN") { // else it is a path
		out = append(out, c.ClientKey.Text)
	}
	return out
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
		has  bool
	}
	var needs []need
	switch c.Grant {
	case GrantTokenExchange:
		needs = []need{{"issuer or tokenEndpoint", c.Issuer != "" || c.Each.TokenEndpoint != ""}, {"issuer or subjectIssuer", c.SubjectIssuer() != ""}, {"clientId", c.ClientID != ""}}
	case "", GrantCode:
		if len(c.Command) > 0 && c.TokenFile != "" {
			return errors.New("command and tokenFile both say where the token comes from")
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
	default:
		all := []string{GrantCode, GrantClientCredentials, GrantJWTBearer, GrantEnterprise, GrantTokenExchange}
		slices.Sort(all)
		return fmt.Errorf("grant is none of %s", strings.Join(all, ", "))
	}
	for _, n := range needs {
		if !n.has {
			return fmt.Errorf("grant %s needs %s", c.Grant, n.what)
		}
	}
	return nil
}
