package authconfig_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/auth/authconfig"
	"github.com/mcpctl/mcpctl/runtime/secret"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`:                                "",
		`{"scopes":["a"],"callbackPort":0}`: "",
		`{"grant":"magic"}`:                 "grant is none of authorization_code, client_credentials, enterprise, jwt_bearer",
		`{"grant":"client_credentials"}`:    "grant client_credentials needs clientId",
		`{"grant":"client_credentials","clientId":"a"}`:                                                   "needs clientSecret or clientKey",
		`{"grant":"client_credentials","clientId":"a","clientKey":"k.pem"}`:                               "",
		`{"grant":"jwt_bearer"}`:                                                                          "needs assertion or tokenFile",
		`{"grant":"enterprise","clientId":"a","idp":{"idToken":"hush"}}`:                                  "needs idp.clientId",
		`{"grant":"enterprise","clientId":"a","idp":{"idToken":"t","clientId":"b","issuer":"https://i"}}`: "",
		`{"command":["a"],"tokenFile":"b"}`:                                                               "both say where the token comes from",
		`{"callbackPort":70000}`:                                                                          "callbackPort is not a port",
		`{"clientid":"a"}`:                                                                                "",
		`{"client_id":"a"}`:                                                                               `unknown key "client_id"`,
		`{"clientSecret":{"hush":1}}`:                                                                     "clientSecret is a object",
		`[]`:                                                                                              "array",
		`{`:                                                                                               "not a JSON object",
	} {
		_, err := authconfig.Parse([]byte(object))
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: got %v, want %q", object, err, want)
		}
	}
}

// TestOver: what a command gives replaces the entry's auth, or the members of it that
// are given.
func TestOver(t *testing.T) {
	t.Parallel()
	entry := authconfig.Config{ClientID: "mine", ClientSecret: secret.New("hush"), Scopes: []string{"a"}, Issuer: "https://as.example"}
	whole := &authconfig.Given{Config: authconfig.Config{CallbackPort: -1}}
	if got := whole.Over(entry); got.ClientID != "" || got.CallbackPort != -1 {
		t.Errorf("got %+v", got)
	}
	part := &authconfig.Given{Part: true, Config: authconfig.Config{CallbackPort: -1, Scopes: []string{"b"}}}
	if got := part.Over(entry); got.ClientID != "mine" || got.ClientSecret.Reveal() != "hush" || got.Issuer == "" || got.CallbackPort != -1 || got.Scopes[0] != "b" {
		t.Errorf("got %+v", got)
	}
	if got := (*authconfig.Given)(nil).Over(entry); got.ClientID != "mine" {
		t.Errorf("got %+v", got)
	}
}
