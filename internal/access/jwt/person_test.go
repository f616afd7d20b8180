package jwt_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/jwt"
)

// TestPerson: who logs in is the principal that their access tokens make.
func TestPerson(t *testing.T) {
	t.Parallel()
	const iss = "https://idp.example"
	for name, c := range map[string]struct {
		rules           jwt.Rules
		claims, id, who string // id is "" for a refusal
	}{
		"by sub":                {jwt.Rules{}, `{"iss":"https://idp.example","sub":"8f3a","nonce":"n","at_hash":"h"}`, iss + "|8f3a", "8f3a"},
		"by another claim":      {jwt.Rules{Subject: "oid"}, `{"iss":"https://idp.example","sub":"x","oid":"o","preferred_username":"alice"}`, iss + "|o", "alice"},
		"another claim missing": {jwt.Rules{Subject: "oid"}, `{"iss":"https://idp.example","sub":"x"}`, "", ""},
		"by address":            {jwt.Rules{Subject: "email", EmailDomains: []string{"example.com"}}, `{"iss":"https://idp.example","sub":"x","email":"A@example.com","email_verified":true}`, iss + "|a@example.com", "a@example.com"},
		"not verified":          {jwt.Rules{Subject: "email", EmailDomains: []string{"example.com"}}, `{"iss":"https://idp.example","sub":"x","email":"a@example.com"}`, "", ""},
		"an address of others":  {jwt.Rules{Subject: "email", EmailDomains: []string{"example.com"}}, `{"iss":"https://idp.example","sub":"x","email":"a@evil.example","email_verified":true}`, "", ""},
		"another issuer":        {jwt.Rules{}, `{"iss":"https://evil.example","sub":"8f3a"}`, "", ""},
		"no issuer":             {jwt.Rules{}, `{"sub":"8f3a"}`, "", ""},
		"no subject":            {jwt.Rules{}, `{"iss":"https://idp.example"}`, "", ""},
		"a number":              {jwt.Rules{}, `{"iss":"https://idp.example","sub":7}`, "", ""},
		"twice":                 {jwt.Rules{}, `{"iss":"https://idp.example","sub":"a","sub":"b"}`, "", ""},
		"control characters":    {jwt.Rules{}, `{"iss":"https://idp.example","sub":"a\u0000b"}`, "", ""},
		"no object":             {jwt.Rules{}, `[]`, "", ""},
	} {
		c.rules.Issuer, c.rules.Kind = iss, "jwt"
		p, no := c.rules.Person([]byte(c.claims))
		switch {
		case c.id == "" && (no == nil || p != nil):
			t.Errorf("%s: got %+v", name, p)
		case c.id != "" && (no != nil || p.ID != c.id || p.Name != c.who || p.Provider != "jwt"):
			t.Errorf("%s: got %+v, %v", name, p, no)
		}
	}
}
