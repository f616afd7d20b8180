package authconfig_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`:                                "",
		`{"scopes":["a"],"callbackPort":0}`: "",
		`{"grant":"magic"}`:                 "grant is none of authorization_code, client_credentials, enterprise, jwt_bearer, password, refresh_token, token_exchange",
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
		`{"as":"principal"}`:                                                                              "",
		`{"as":"gateway"}`:                                                                                "",
		`{"as":"me"}`:                                                                                     "as is none of gateway, principal",
		`{"as":"principal","grant":"client_credentials","clientId":"a","clientSecret":"b"}`:                                        "one credential for all",
		`{"as":"principal","command":["a"]}`:                                                                                       `command has no use with "as": "principal" and grant authorization_code`,
		`{"as":"principal","tokenFile":"a"}`:                                                                                       "tokenFile has no use",
		`{"grant":"token_exchange","issuer":"https://i","clientId":"a"}`:                                                           `needs "as": "principal"`,
		`{"as":"principal","grant":"token_exchange","clientId":"a"}`:                                                               "needs issuer or tokenEndpoint",
		`{"as":"principal","grant":"token_exchange","clientId":"a","tokenEndpoint":"https://i/token"}`:                             "needs issuer or subjectIssuer",
		`{"as":"principal","grant":"token_exchange","clientId":"a","tokenEndpoint":"https://i/token","subjectIssuer":"https://i"}`: "",
		`{"as":"principal","grant":"token_exchange","issuer":"https://i"}`:                                                         "needs clientId",
		`{"as":"principal","grant":"token_exchange","issuer":"https://i","clientId":"a","audience":"b","actorToken":"hush"}`:       "",
		`{"as":"principal","grant":"token_exchange","issuer":"https://i","clientId":"a","subject":"b"}`:                            "subject has no use",
		`{"as":"principal","audience":"a"}`:                                                                                        "",
		`{"audience":"a","extraParams":{"tenant":"x"},"issuer":"https://i"}`:                                                       "",
		`{"extraParams":{"tenant":1}}`:                                                                                             "extraParams is a number",
		`{"extraParams":{"client_secret":"hush"}}`:                                                                                 `extraParams: "client_secret" is a parameter that mcpctl sets itself`,
		`{"extraParams":{"":"hush"}}`:                                                                                              "is a parameter that mcpctl sets itself",
		`{"authStyle":"query"}`:                                                                                                    "authStyle is none of body, header",
		`{"clientId":"a","clientSecret":"hush","authStyle":"body","issuer":"https://i"}`:                                           "",
		`{"clientId":"a","tokenEndpoint":"https://i/token"}`:                                                                       "tokenEndpoint needs authorizationEndpoint or issuer",
		`{"clientId":"a","authorizationEndpoint":"https://i/a"}`:                                                                   "authorizationEndpoint needs tokenEndpoint or issuer",
		`{"clientId":"a","tokenEndpoint":"https://i/token","authorizationEndpoint":"https://i/a"}`:                                 "",
		`{"tokenEndpoint":"https://i/token","authorizationEndpoint":"https://i/a"}`:                                                "need clientId",
		`{"clientId":"a","tokenEndpoint":"https://i/token","issuer":"https://i"}`:                                                  "",
		`{"clientId":"a","tokenEndpoint":"i/hush","issuer":"https://i"}`:                                                           "tokenEndpoint is not an address",
		`{"clientId":"a","tokenEndpoint":"${T}","issuer":"${I}"}`:                                                                  "",
		`{"issuer":"login.example.com"}`:                                                                                           "issuer is not an address",
		`{"grant":"client_credentials","clientId":"a","clientKey":"k","authorizationEndpoint":"https://i/a"}`:                      "authorizationEndpoint needs grant authorization_code",
		`{"grant":"password","password":"hush"}`:                                                                                   "grant password needs username",
		`{"grant":"password","username":"u"}`:                                                                                      "grant password needs password",
		`{"grant":"password","username":"u","password":"hush"}`:                                                                    "",
		`{"username":"u"}`:                                "username needs grant password",
		`{"password":"hush"}`:                             "password needs grant password",
		`{"grant":"refresh_token"}`:                       "grant refresh_token needs refreshToken",
		`{"grant":"refresh_token","refreshToken":"hush"}`: "",
		`{"refreshToken":"hush"}`:                         "refreshToken needs grant refresh_token",
		`{"as":"principal","grant":"password","username":"u","password":"hush"}`: "one credential for all",
		`{"as":"principal","grant":"refresh_token","refreshToken":"hush"}`:       "one credential for all",
		`{"actorToken":"hush"}`: `actorToken needs "as": "principal"`,
		`{"as":"principal","grant":"jwt_bearer","assertion":"hush"}`:                                                                  "assertion has no use",
		`{"as":"principal","grant":"jwt_bearer","clientId":"a","clientKey":"k.pem"}`:                                                  "needs subject",
		`{"as":"principal","grant":"jwt_bearer","clientId":"a","subject":"b"}`:                                                        "needs clientKey",
		`{"as":"principal","grant":"jwt_bearer","clientId":"a","clientKey":"k.pem","subject":"b"}`:                                    "",
		`{"as":"principal","grant":"enterprise","clientId":"a","idp":{"clientId":"b","issuer":"https://i"}}`:                          "",
		`{"as":"principal","grant":"enterprise","clientId":"a","idp":{"clientId":"b","issuer":"https://i","idToken":"hush"}}`:         "idp.idToken has no use",
		`{"as":"principal","grant":"enterprise","clientId":"a","idp":{"clientId":"b","tokenEndpoint":"https://i/t"}}`:                 "needs idp.issuer or subjectIssuer",
		`{"grant":"enterprise","clientId":"a","subjectIssuer":"https://i","idp":{"idToken":"t","clientId":"b","issuer":"https://i"}}`: "subjectIssuer needs",
		`[]`: "array",
		`{`:  "not a JSON object",
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
	whole := &authconfig.Override{Config: authconfig.Config{CallbackPort: -1}}
	if got := whole.Apply(entry); got.ClientID != "" || got.CallbackPort != -1 {
		t.Errorf("got %+v", got)
	}
	part := &authconfig.Override{Part: true, Config: authconfig.Config{CallbackPort: -1, Scopes: []string{"b"}}}
	if got := part.Apply(entry); got.ClientID != "mine" || got.ClientSecret.Reveal() != "hush" || got.Issuer == "" || got.CallbackPort != -1 || got.Scopes[0] != "b" {
		t.Errorf("got %+v", got)
	}
	if got := (*authconfig.Override)(nil).Apply(entry); got.ClientID != "mine" {
		t.Errorf("got %+v", got)
	}
}
