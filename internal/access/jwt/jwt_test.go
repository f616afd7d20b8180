package jwt_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/jwt"
	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/require"
)

const (
	issuer   = "https://idp.example"
	resource = "https://mcp.example.com/mcp"
)

// keys are those of an issuer, which tests change.
type keys struct {
	set    atomic.Pointer[jwt.KeySet]
	asked  atomic.Int64
	failed atomic.Bool
}

func (k *keys) Set() *jwt.KeySet { return k.set.Load() }

func (k *keys) Renew(context.Context) (*jwt.KeySet, error) {
	k.asked.Add(1)
	if k.failed.Load() {
		return k.set.Load(), errors.New("no")
	}
	return k.set.Load(), nil
}

func (k *keys) are(t testing.TB, all ...*idp.Key) {
	t.Helper()
	set, _, err := jwt.ParseKeys(idp.Set(all...))
	require.NoError(t, err)
	k.set.Store(set)
}

var signers = map[string]*idp.Key{
	"es": idp.NewKey("es", "ES256"), "es384": idp.NewKey("es384", "ES384"), "ed": idp.NewKey("ed", "EdDSA"), "rs": idp.NewKey("rs", "RS256"),
	"ps": idp.NewKey("ps", "PS256"), "es512": idp.NewKey("es512", "ES512"), "stranger": idp.NewKey("es", "ES256"), "hs": idp.NewKey("hs", "HS256"),
}

// known returns the keys of all signers but the stranger.
func known(t testing.TB) *keys {
	t.Helper()
	k := &keys{}
	k.are(t, signers["es"], signers["es384"], signers["ed"], signers["rs"], signers["ps"], signers["es512"], signers["hs"])
	return k
}

func rules() jwt.Rules {
	return jwt.Rules{
		Kind: "jwt", Issuer: issuer, Audiences: []string{resource, "api://other"}, Scopes: []string{"mcp"}, Groups: "groups", Name: "idp",
		EmailDomains: []string{"example.com"}, Tags: []string{"team", "level", "object"},
	}
}

func claims(change idp.Claims) idp.Claims {
	now := time.Now()
	c := idp.Claims{
		"iss": issuer, "aud": resource, "sub": "8f3a", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "scope": "mcp", "client_id": "cli",
	}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func signed(change idp.Claims) string { return signers["es"].Sign(claims(change), nil) }

// ask returns what a provider says of a token, as an authenticator would ask it.
func ask(p *jwt.Provider, token string) (*access.Principal, *access.Refusal) {
	who, no := p.Principal(context.Background(), access.Credential{Bearer: token})
	if who == nil && no == nil {
		return nil, access.ErrUnknownToken
	}
	return who, no
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	p := jwt.New("jwt", jwt.NewIssuer(rules(), known(t)))
	who, no := ask(p, signed(idp.Claims{
		"aud": []string{"x", resource}, "scope": "mcp read mcp", "groups": []string{"b", "a", "b"}, "email": "Ann@Example.com", "email_verified": true,
		"preferred_username": "ann", "team": []string{"x", "y"}, "level": 3, "object": idp.Claims{}, "other": "z",
	}))
	if no != nil {
		t.Fatal(no.Reason)
	}
	who.Expires, who.Proof = time.Time{}, nil
	got := fmt.Sprintf("%+v", *who)
	const want = "{ID:https://idp.example|8f3a Name:ann@example.com Email:ann@example.com Provider:jwt Groups:[idp:a idp:b] Scopes:[mcp read] Client:cli Tags:map[level:[3] team:[x y]] Expires:0001-01-01 00:00:00 +0000 UTC Proof:<nil>}"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAccepted has tokens that differ from the usual and are right, and what of the
// principal differs with them.
func TestAccepted(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tests := map[string]struct {
		claims, header idp.Claims
		by             string
		rules          func(*jwt.Rules)
		want           string // of the principal: ID, name, client, groups
	}{
		"plain":            {want: "8f3a 8f3a cli []"},
		"ES384":            {by: "es384", want: "8f3a 8f3a cli []"},
		"EdDSA":            {by: "ed", want: "8f3a 8f3a cli []"},
		"RS256":            {by: "rs", want: "8f3a 8f3a cli []"},
		"PS256":            {by: "ps", want: "8f3a 8f3a cli []"},
		"typ JWT":          {header: idp.Claims{"typ": "JWT"}, want: "8f3a 8f3a cli []"},
		"typ long":         {header: idp.Claims{"typ": "application/AT+JWT"}, want: "8f3a 8f3a cli []"},
		"no typ":           {header: idp.Claims{"typ": nil}, want: "8f3a 8f3a cli []"},
		"jku":              {header: idp.Claims{"jku": "https://evil.example", "x5u": "https://evil.example"}, want: "8f3a 8f3a cli []"},
		"no kid, one fits": {header: idp.Claims{"kid": nil}, by: "ed", want: "8f3a 8f3a cli []"},
		"other audience":   {claims: idp.Claims{"aud": "api://other"}, want: "8f3a 8f3a cli []"},
		"scp":              {claims: idp.Claims{"scope": nil, "scp": []string{"mcp", "x"}}, want: "8f3a 8f3a cli []"},
		"scp text":         {claims: idp.Claims{"scope": nil, "scp": "x mcp"}, want: "8f3a 8f3a cli []"},
		"nbf in leeway":    {claims: idp.Claims{"nbf": now.Add(50 * time.Second).Unix()}, want: "8f3a 8f3a cli []"},
		"exp in parts":     {claims: idp.Claims{"exp": float64(now.Add(time.Hour).Unix()) + 0.5}, want: "8f3a 8f3a cli []"},
		"azp":              {claims: idp.Claims{"client_id": nil, "azp": "web"}, want: "8f3a 8f3a web []"},
		"clientClaim":      {claims: idp.Claims{"app": "x"}, rules: func(r *jwt.Rules) { r.Client = "app" }, want: "8f3a 8f3a x []"},
		"subjectClaim":     {claims: idp.Claims{"oid": "77"}, rules: func(r *jwt.Rules) { r.Subject = "oid" }, want: "77 77 cli []"},
		"email as subject": {
			claims: idp.Claims{"email": "A@example.com", "email_verified": true}, rules: func(r *jwt.Rules) { r.Subject = "email" }, want: "a@example.com a@example.com cli []",
		},
		"a username":          {claims: idp.Claims{"preferred_username": "ann"}, want: "8f3a ann cli []"},
		"a name to fear":      {claims: idp.Claims{"preferred_username": "a\x1b[2J"}, want: "8f3a 8f3a cli []"},
		"mail not verified":   {claims: idp.Claims{"email": "a@example.com"}, want: "8f3a 8f3a cli []"},
		"mail verified text":  {claims: idp.Claims{"email": "a@example.com", "email_verified": "true"}, want: "8f3a 8f3a cli []"},
		"mail of others":      {claims: idp.Claims{"email": "a@evil.example", "email_verified": true}, want: "8f3a 8f3a cli []"},
		"mail of below":       {claims: idp.Claims{"email": "a@x.example.com", "email_verified": true}, want: "8f3a 8f3a cli []"},
		"mail without a name": {claims: idp.Claims{"email": "example.com", "email_verified": true}, want: "8f3a 8f3a cli []"},
		"mail of nobody":      {claims: idp.Claims{"email": "@example.com", "email_verified": true}, want: "8f3a 8f3a cli []"},
		"mail of two":         {claims: idp.Claims{"email": "a@example.com@evil.example", "email_verified": true}, want: "8f3a 8f3a cli []"},
		"one group":           {claims: idp.Claims{"groups": "eng"}, want: "8f3a 8f3a cli [idp:eng]"},
		"no groups":           {claims: idp.Claims{"groups": []string{}}, want: "8f3a 8f3a cli []"},
		"groupPrefix": {
			claims: idp.Claims{"groups": []string{"mcp-a", "b"}}, rules: func(r *jwt.Rules) { r.GroupPrefix = "mcp-" }, want: "8f3a 8f3a cli [idp:mcp-a]",
		},
		"groups nobody asks for": {
			claims: idp.Claims{"groups": 7, "_claim_names": idp.Claims{"groups": "src1"}}, rules: func(r *jwt.Rules) { r.Groups = "" }, want: "8f3a 8f3a cli []",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rules()
			if tc.rules != nil {
				tc.rules(&r)
			}
			by := signers["es"]
			if tc.by != "" {
				by = signers[tc.by]
			}
			who, no := ask(jwt.New("jwt", jwt.NewIssuer(r, known(t))), by.Sign(claims(tc.claims), tc.header))
			if no != nil {
				t.Fatal(no.Reason)
			}
			id, _ := strings.CutPrefix(who.ID, issuer+"|")
			if got := fmt.Sprint(id, " ", who.Name, " ", who.Client, " ", who.Groups); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestRefused has tokens that are not accepted, and which check says so.
func TestRefused(t *testing.T) {
	t.Parallel()
	now := time.Now()
	es := signers["es"]
	pub, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(signers["rs"].JWK()["n"]))
	require.NoError(t, err)
	with := func(header idp.Claims) string { return es.Sign(claims(nil), header) }
	raw := func(more string) string {
		b, _ := json.Marshal(claims(nil))
		return es.SignText(string(b[:len(b)-1])+","+more+"}", nil)
	}
	good := signed(nil)
	parts := strings.Split(good, ".")
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprint("g", i)
	}
	tests := map[string]struct{ token, want string }{
		"another's signature":                {signers["stranger"].Sign(claims(nil), nil), "signature"},
		"another key's":                      {es.Sign(claims(nil), idp.Claims{"kid": "ed", "alg": "EdDSA"}), "signature"},
		"no signature":                       {parts[0] + "." + parts[1] + ".", "unknown"},
		"claims changed":                     {parts[0] + "." + strings.Split(signed(idp.Claims{"sub": "root"}), ".")[1] + "." + parts[2], "signature"},
		"a DER signature":                    {parts[0] + "." + parts[1] + ".MEUCIQ", "signature"},
		"none":                               {es.SignBoth(`{"alg":"none"}`, string(must(json.Marshal(claims(nil))))), "alg"},
		"None":                               {with(idp.Claims{"alg": "None"}), "alg"},
		"HS256 with the public key":          {idp.Secret("rs", pub).Sign(claims(nil), nil), "alg"},
		"HS256 with its JWK":                 {idp.Secret("rs", idp.Set(signers["rs"])).Sign(claims(nil), nil), "alg"},
		"HS256 with a secret in the set":     {signers["hs"].Sign(claims(nil), nil), "alg"},
		"ES512":                              {signers["es512"].Sign(claims(nil), nil), "alg"},
		"RS256 said to be PS256":             {signers["rs"].Sign(claims(nil), idp.Claims{"alg": "PS256"}), "key"},
		"PS256 with a key for RS256":         {signers["rs"].With("PS256").Sign(claims(nil), nil), "key"},
		"ES256 said to be RS256":             {with(idp.Claims{"alg": "RS256"}), "key"},
		"an EC key for RSA":                  {with(idp.Claims{"kid": "rs"}), "key"},
		"no alg":                             {with(idp.Claims{"alg": nil}), "alg"},
		"no kid, one of its kind, another's": {signers["stranger"].Sign(claims(nil), idp.Claims{"kid": nil}), "signature"},
		"kid unknown":                        {with(idp.Claims{"kid": "x"}), "key"},
		"kid a path":                         {with(idp.Claims{"kid": "../../dev/null"}), "key"},
		"kid SQL":                            {with(idp.Claims{"kid": "x' UNION SELECT 'es"}), "key"},
		"kid empty":                          {es.SignBoth(`{"alg":"HS256","kid":""}`, string(must(json.Marshal(claims(nil))))), "alg"},
		"a key in the header":                {signers["stranger"].Sign(claims(nil), idp.Claims{"jwk": signers["stranger"].JWK()}), "signature"},
		"crit":                               {with(idp.Claims{"crit": []string{"x"}, "x": 1}), "crit"},
		"crit b64":                           {with(idp.Claims{"crit": []string{"b64"}, "b64": false}), "crit"},
		"b64":                                {with(idp.Claims{"b64": false}), "crit"},
		"typ of an ID token":                 {with(idp.Claims{"typ": "id+jwt"}), "typ"},
		"typ of a logout token":              {with(idp.Claims{"typ": "logout+jwt"}), "typ"},
		"typ of a proof":                     {with(idp.Claims{"typ": "dpop+jwt"}), "typ"},
		"nonce":                              {signed(idp.Claims{"nonce": "x"}), "id token"},
		"at_hash":                            {signed(idp.Claims{"at_hash": "x"}), "id token"},
		"nonce null":                         {raw(`"nonce":null`), "id token"},
		"another issuer":                     {signed(idp.Claims{"iss": "https://evil.example"}), "unknown"},
		"issuer with a slash":                {signed(idp.Claims{"iss": issuer + "/"}), "unknown"},
		"issuer in capitals":                 {signed(idp.Claims{"iss": strings.ToUpper(issuer)}), "unknown"},
		"no issuer":                          {signed(idp.Claims{"iss": nil}), "unknown"},
		"issuers":                            {signed(idp.Claims{"iss": []string{issuer}}), "unknown"},
		"no audience":                        {signed(idp.Claims{"aud": nil}), "aud"},
		"audience empty":                     {signed(idp.Claims{"aud": ""}), "aud"},
		"audiences, none":                    {signed(idp.Claims{"aud": []string{}}), "aud"},
		"audience of others":                 {signed(idp.Claims{"aud": "https://other.example"}), "aud"},
		"audience a prefix":                  {signed(idp.Claims{"aud": resource[:len(resource)-1]}), "aud"},
		"audience longer":                    {signed(idp.Claims{"aud": resource + "2"}), "aud"},
		"audience with a slash":              {signed(idp.Claims{"aud": resource + "/"}), "aud"},
		"audience the origin":                {signed(idp.Claims{"aud": "https://mcp.example.com"}), "aud"},
		"audience in capitals":               {signed(idp.Claims{"aud": strings.ToUpper(resource)}), "aud"},
		"audience an object":                 {signed(idp.Claims{"aud": idp.Claims{resource: true}}), "aud"},
		"audiences with a number":            {signed(idp.Claims{"aud": []any{resource, 1}}), "aud"},
		"audiences with null":                {signed(idp.Claims{"aud": []any{resource, nil}}), "aud"},
		"audience twice":                     {raw(`"aud":"` + resource + `"`), "unknown"},
		"sub twice":                          {raw(`"sub":"root"`), "unknown"},
		"alg twice":                          {es.SignBoth(`{"alg":"ES256","alg":"none","kid":"es"}`, string(must(json.Marshal(claims(nil))))), "unknown"},
		"expired":                            {signed(idp.Claims{"exp": now.Unix()}), "expired"},
		"no exp":                             {signed(idp.Claims{"exp": nil}), "times"},
		"exp null":                           {signed(idp.Claims{"exp": json.RawMessage("null")}), "times"},
		"exp 1e20":                           {signed(idp.Claims{"exp": json.RawMessage("1e20")}), "times"},
		"exp 1e999":                          {signed(idp.Claims{"exp": json.RawMessage("1e999")}), "times"},
		"exp negative":                       {signed(idp.Claims{"exp": -1}), "times"},
		"exp a text":                         {signed(idp.Claims{"exp": fmt.Sprint(now.Add(time.Hour).Unix())}), "times"},
		"not yet":                            {signed(idp.Claims{"nbf": now.Add(2 * time.Minute).Unix()}), "not yet"},
		"nbf a text":                         {signed(idp.Claims{"nbf": "0"}), "times"},
		"of the future":                      {signed(idp.Claims{"iat": now.Add(2 * time.Minute).Unix()}), "not yet"},
		"no sub":                             {signed(idp.Claims{"sub": nil}), "sub"},
		"sub empty":                          {signed(idp.Claims{"sub": ""}), "sub"},
		"sub a number":                       {signed(idp.Claims{"sub": 7}), "sub"},
		"sub with a control":                 {signed(idp.Claims{"sub": "a\nb"}), "sub"},
		"sub too long":                       {signed(idp.Claims{"sub": strings.Repeat("a", 256)}), "sub"},
		"no scope":                           {signed(idp.Claims{"scope": nil}), "scope missing"},
		"another scope":                      {signed(idp.Claims{"scope": "mcp2 MCP"}), "scope missing"},
		"scope a list":                       {signed(idp.Claims{"scope": []string{"mcp"}}), "scope"},
		"scp a number":                       {signed(idp.Claims{"scope": nil, "scp": 7}), "scope"},
		"groups a number":                    {signed(idp.Claims{"groups": 7}), "groups"},
		"groups an object":                   {signed(idp.Claims{"groups": idp.Claims{"a": true}}), "groups"},
		"groups with a number":               {signed(idp.Claims{"groups": []any{"a", 1}}), "groups"},
		"too many groups":                    {signed(idp.Claims{"groups": many}), "groups"},
		"groups elsewhere":                   {signed(idp.Claims{"_claim_names": idp.Claims{"groups": "src1"}}), "groups overage"},
		"groups elsewhere, implicit":         {signed(idp.Claims{"hasgroups": true}), "groups overage"},
		"bound to a key":                     {signed(idp.Claims{"cnf": idp.Claims{"jkt": "x"}}), "cnf"},
		"bound to a certificate":             {signed(idp.Claims{"cnf": idp.Claims{"x5t#S256": base64.RawURLEncoding.EncodeToString(make([]byte, 32))}}), "cnf"},
		"bound to two":                       {signed(idp.Claims{"cnf": idp.Claims{"x5t#S256": base64.RawURLEncoding.EncodeToString(make([]byte, 32)), "jkt": "x"}}), "cnf"},
		"bound to nothing":                   {signed(idp.Claims{"cnf": idp.Claims{}}), "cnf"},
		"cnf a text":                         {signed(idp.Claims{"cnf": "x"}), "cnf"},
		"too long":                           {signed(idp.Claims{"x": strings.Repeat("a", 16<<10)}), "unknown"},
		"four parts":                         {good + ".x", "unknown"},
		"two parts":                          {parts[0] + "." + parts[1], "unknown"},
		"with padding":                       {parts[0] + "=." + parts[1] + "." + parts[2], "unknown"},
		"a line break in it":                 {parts[0] + "\n." + parts[1] + "." + parts[2], "unknown"},
		"claims a list":                      {es.SignText("[]", nil), "unknown"},
		"claims null":                        {es.SignText("null", nil), "unknown"},
		"claims and more":                    {es.SignText("{}{}", nil), "unknown"},
		"bad UTF-8":                          {raw("\"x\":\"\xff\""), "unknown"},
		"half a surrogate":                   {raw(`"x":"\ud800"`), "unknown"},
		"nothing":                            {"", "unknown"},
	}
	p := jwt.New("jwt", jwt.NewIssuer(rules(), known(t)))
	if _, no := ask(p, good); no != nil {
		t.Fatal(no.Reason)
	}
	for name, tc := range tests {
		who, no := ask(p, tc.token)
		if who != nil || no == nil || no.Reason != tc.want {
			t.Errorf("%s: got %v, %+v, want %s", name, who, no, tc.want)
			continue
		}
		if status := map[bool]int{true: 403, false: 401}[tc.want == "scope missing"]; no.Status != status || no.Description == "" {
			t.Errorf("%s: got %+v", name, no)
		}
	}
}

func must(b []byte, _ error) []byte { return b }

// TestAskedFor: keys are asked for only for a token that has all else right.
func TestAskedFor(t *testing.T) {
	t.Parallel()
	k := known(t)
	p := jwt.New("jwt", jwt.NewIssuer(rules(), k))
	for _, change := range []idp.Claims{{"exp": 1}, {"aud": "x"}, {"sub": nil}, {"nonce": "x"}, {"iss": "x"}} {
		if _, no := ask(p, signers["stranger"].Sign(claims(change), idp.Claims{"kid": "new"})); no == nil {
			t.Errorf("%v is accepted", change)
		}
	}
	if n := k.asked.Load(); n > 0 {
		t.Errorf("keys were asked for %d times", n)
	}
	k.failed.Store(true)
	if _, no := ask(p, signers["es"].Sign(claims(nil), idp.Claims{"kid": "new"})); no != access.ErrUnavailable || k.asked.Load() != 1 {
		t.Errorf("got %v after %d", no, k.asked.Load())
	}
	if _, no := ask(p, signed(nil)); no != nil || k.asked.Load() != 1 {
		t.Errorf("a known key: got %v after %d", no, k.asked.Load())
	}
	k.set.Store(nil)
	if _, no := ask(p, signed(idp.Claims{"jti": 1})); no != access.ErrUnavailable {
		t.Errorf("without keys: got %v", no)
	}
}

// TestRemembered: a token that has been accepted is not verified again, until it ends,
// five minutes have gone by, or the keys have changed.
func TestRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := known(t)
		p := jwt.New("jwt", jwt.NewIssuer(rules(), k))
		token := signed(idp.Claims{"exp": time.Now().Add(7 * time.Minute).Unix()})
		first, _ := ask(p, token)
		again := func(after time.Duration) bool {
			time.Sleep(after)
			who, no := ask(p, token)
			if no != nil {
				t.Fatal(no.Reason)
			}
			same := who == first
			first = who
			return same
		}
		if !again(time.Minute) || !again(3*time.Minute) {
			t.Error("it is not remembered")
		}
		if again(time.Minute) {
			t.Error("it is remembered for five minutes")
		}
		k.are(t, signers["es"])
		if again(0) {
			t.Error("it is remembered although the keys have changed")
		}
		if !p.Valid(first) {
			t.Error("its principal is not valid")
		}
		k.are(t, signers["ed"])
		if _, no := ask(p, token); no == nil || no.Reason != "key" || p.Valid(first) {
			t.Errorf("the key has gone: got %v", no)
		}
		k.are(t, signers["es"])
		again(0)
		time.Sleep(2 * time.Minute)
		if _, no := ask(p, token); no != access.ErrExpired || p.Valid(first) {
			t.Errorf("at its end: got %v", no)
		}
	})
}

// TestBound: a token that is bound to a certificate is for who has that, also when it is
// remembered (RFC 8705, 3).
func TestBound(t *testing.T) {
	t.Parallel()
	p := jwt.New("jwt", jwt.NewIssuer(rules(), known(t)))
	own, again, other := &x509.Certificate{Raw: []byte("own")}, &x509.Certificate{Raw: []byte("own")}, &x509.Certificate{Raw: []byte("other")}
	sum := sha256.Sum256(own.Raw)
	token := signed(idp.Claims{"cnf": idp.Claims{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:])}})
	for i, tc := range []struct {
		cert *x509.Certificate
		ok   bool
	}{{other, false}, {nil, false}, {own, true}, {own, true}, {other, false}, {nil, false}, {again, true}, {own, true}} {
		who, no := p.Principal(t.Context(), access.Credential{Bearer: token, Certificate: tc.cert})
		if (who != nil) != tc.ok || !tc.ok && no.Reason != "cnf" {
			t.Errorf("%d: got %v, %v", i, who, no)
		}
	}
	two := signed(idp.Claims{"cnf": idp.Claims{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:]), "jkt": "x"}})
	if _, no := p.Principal(t.Context(), access.Credential{Bearer: two, Certificate: own}); no == nil || no.Reason != "cnf" {
		t.Errorf("a token that is also bound to a key: got %v", no)
	}
	if _, no := p.Principal(t.Context(), access.Credential{Bearer: signed(nil), Certificate: own}); no != nil {
		t.Errorf("a token that is not bound: got %v", no)
	}
}

// TestNoKeyID: without a key id the algorithm has to say which key it is.
func TestNoKeyID(t *testing.T) {
	t.Parallel()
	k := &keys{}
	k.are(t, signers["es"], signers["stranger"], signers["ed"])
	p := jwt.New("jwt", jwt.NewIssuer(rules(), k))
	for name, want := range map[string]string{"es": "key", "stranger": "key", "ed": ""} {
		got := ""
		if _, no := ask(p, signers[name].Sign(claims(nil), idp.Claims{"kid": nil})); no != nil {
			got = no.Reason
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if _, no := ask(p, signers["stranger"].Sign(claims(nil), idp.Claims{"kid": "es"})); no != nil {
		t.Errorf("two keys with one id: got %v", no)
	}
}

// TestSwapped: an RSA key that says no algorithm takes two, each with its own signatures.
func TestSwapped(t *testing.T) {
	t.Parallel()
	rs := signers["rs"]
	jwk := rs.JWK()
	delete(jwk, "alg")
	doc, err := json.Marshal(map[string]any{"keys": []any{jwk}})
	require.NoError(t, err)
	set, _, err := jwt.ParseKeys(doc)
	require.NoError(t, err)
	k := &keys{}
	k.set.Store(set)
	p := jwt.New("jwt", jwt.NewIssuer(rules(), k))
	for name, tc := range map[string]struct{ token, want string }{
		"RS256": {rs.Sign(claims(nil), nil), ""}, "PS256": {rs.With("PS256").Sign(claims(nil), nil), ""},
		"RS256 said to be PS256": {rs.Sign(claims(nil), idp.Claims{"alg": "PS256"}), "signature"},
		"PS256 said to be RS256": {rs.With("PS256").Sign(claims(nil), idp.Claims{"alg": "RS256"}), "signature"},
	} {
		got := ""
		if _, no := ask(p, tc.token); no != nil {
			got = no.Reason
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// TestAtOnce: tokens are accepted and refused while the keys change.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	k := &keys{}
	ed, other := signers["ed"], idp.NewKey("other", "EdDSA")
	k.are(t, ed)
	p := jwt.New("jwt", jwt.NewIssuer(rules(), k))
	good, gone := ed.Sign(claims(nil), nil), other.Sign(claims(idp.Claims{"sub": "gone"}), nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if who, no := ask(p, good); no != nil || who.ID != issuer+"|8f3a" {
					t.Errorf("got %v, %v", who, no)
				}
				if who, no := ask(p, gone); who != nil && who.ID != issuer+"|gone" || no != nil && no.Reason != "key" {
					t.Errorf("got %v, %v", who, no)
				}
				p.Subject(issuer + "|8f3a")
			}
		})
	}
	for i := range 20 {
		k.are(t, [][]*idp.Key{{ed}, {ed, other}}[i%2]...)
	}
	all.Wait()
}

// TestOneForm: a token has one form; the last bits of a part, which base64 leaves over,
// are not free.
func TestOneForm(t *testing.T) {
	t.Parallel()
	p := jwt.New("jwt", jwt.NewIssuer(rules(), known(t)))
	for i := range 3 {
		header, rest, _ := strings.Cut(signers["ed"].Sign(claims(nil), idp.Claims{"x": strings.Repeat("a", i)}), ".")
		if len(header)%4 == 0 {
			continue
		}
		last := header[len(header)-1]
		if _, no := ask(p, header[:len(header)-1]+string(last+1)+"."+rest); no == nil || no.Reason != "unknown" {
			t.Errorf("%d: got %v", i, no)
		}
	}

	// 64 bytes of a signature leave four bits of their last character over.
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for _, name := range []string{"ed", "es", "rs"} {
		token := signers[name].Sign(claims(nil), nil)
		if _, no := ask(p, token); no != nil {
			t.Fatalf("%s: %v", name, no)
		}
		start, last := token[:len(token)-1], strings.IndexByte(alphabet, token[len(token)-1])
		for _, other := range []string{start + alphabet[last+1:last+2], token + "=", token + "\n", start + "\r" + token[len(token)-1:]} {
			if _, no := ask(p, other); no == nil || no.Reason != "unknown" {
				t.Errorf("%s: %q behind the dot: %v", name, other[strings.LastIndexByte(other, '.'):], no)
			}
		}
	}
}

// TestIssuers: tokens of one issuer are verified with its keys alone, and equal subjects
// of two are two principals.
func TestIssuers(t *testing.T) {
	t.Parallel()
	one, two := &keys{}, &keys{}
	a, b := idp.NewKey("k", "EdDSA"), idp.NewKey("k", "EdDSA")
	one.are(t, a)
	two.are(t, b)
	r1, r2 := rules(), rules()
	r2.Issuer, r2.Name = "https://two.example", "two"
	p := jwt.New("jwt", jwt.NewIssuer(r1, one), jwt.NewIssuer(r2, two))
	first, no1 := ask(p, a.Sign(claims(idp.Claims{"groups": "x"}), nil))
	second, no2 := ask(p, b.Sign(claims(idp.Claims{"iss": r2.Issuer, "groups": "x"}), nil))
	if no1 != nil || no2 != nil || first.ID == second.ID || slices.Equal(first.Groups, second.Groups) {
		t.Errorf("got %v, %v, %v, %v", first, second, no1, no2)
	}
	if _, no := ask(p, a.Sign(claims(idp.Claims{"iss": r2.Issuer}), nil)); no == nil || no.Reason != "signature" {
		t.Errorf("one signs for the other: got %v", no)
	}
	two.set.Store(nil)
	if _, no := ask(p, b.Sign(claims(idp.Claims{"iss": r2.Issuer, "jti": 1}), nil)); no != access.ErrUnavailable {
		t.Errorf("got %v", no)
	}
	if _, no := ask(p, a.Sign(claims(idp.Claims{"jti": 1}), nil)); no != nil {
		t.Errorf("the other goes on: got %v", no)
	}
}

// TestPersonAndToken: who logs in is the same principal as with an access token, and has no groups.
func TestPersonAndToken(t *testing.T) {
	t.Parallel()
	r := rules()
	asked, no := ask(jwt.New("jwt", jwt.NewIssuer(r, known(t))), signed(idp.Claims{"groups": "eng", "preferred_username": "ann", "client_id": nil}))
	if no != nil {
		t.Fatal(no.Reason)
	}
	b, err := json.Marshal(idp.Claims{"iss": issuer, "sub": "8f3a", "aud": "pages", "nonce": "n", "groups": []string{"eng"}, "preferred_username": "ann", "exp": 1})
	require.NoError(t, err)
	who, no := r.Person(b)
	if no != nil || who.ID != asked.ID || who.Name != "ann" || who.Groups != nil || who.Provider != "jwt" {
		t.Errorf("got %+v, %v, want %+v", who, no, asked)
	}
	for _, claims := range []string{"", "[]", "{}", `{"iss":"https://idp.example"}`, `{"iss":"https://idp.example/","sub":"a"}`, `{"iss":"https://idp.example","sub":"a","sub":"b"}`} {
		if who, no := r.Person([]byte(claims)); who != nil || no == nil {
			t.Errorf("%s: got %v", claims, who)
		}
	}
}

// TestSubject returns the token of a principal that ends last.
func TestSubject(t *testing.T) {
	t.Parallel()
	p := jwt.New("jwt", jwt.NewIssuer(rules(), known(t)))
	var last string
	for _, hours := range []int{1, 3, 2} {
		token := signed(idp.Claims{"exp": time.Now().Add(time.Duration(hours) * time.Hour).Unix()})
		if hours == 3 {
			last = token
		}
		ask(p, token)
		ask(p, signed(idp.Claims{"sub": "other"}))
	}
	token, expires, ok := p.Subject(issuer + "|8f3a")
	if !ok || token.Reveal() != last || time.Until(expires) < 2*time.Hour {
		t.Errorf("got %v until %v", ok, expires)
	}
	if _, _, ok := p.Subject(issuer + "|nobody"); ok {
		t.Error("nobody has a token")
	}
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	es := signers["es"].JWK()
	changed := func(change idp.Claims) idp.Claims {
		out := maps.Clone(es)
		maps.Copy(out, change)
		maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
		return out
	}
	tests := map[string]struct {
		key  any
		want int
	}{
		"plain": {es, 1}, "no use": {changed(idp.Claims{"use": nil, "alg": nil, "kid": nil}), 1}, "verify": {changed(idp.Claims{"key_ops": []string{"verify"}}), 1},
		"certificates that are none": {changed(idp.Claims{"x5c": []string{"x"}, "x5t": "x", "x5u": ":"}), 1},
		"for encryption":             {changed(idp.Claims{"use": "enc"}), 0}, "to sign": {changed(idp.Claims{"key_ops": []string{"sign"}}), 0},
		"another alg": {changed(idp.Claims{"alg": "ES384"}), 0}, "HMAC": {signers["hs"].JWK(), 0}, "private": {changed(idp.Claims{"d": "x"}), 0},
		"not on its curve": {changed(idp.Claims{"x": es["y"]}), 0}, "P-521": {signers["es512"].JWK(), 0}, "no type": {changed(idp.Claims{"kty": nil}), 0},
		"RSA too short": {idp.Claims{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 255)), "e": "AQAB"}, 0},
		"RSA too long":  {idp.Claims{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 1025)), "e": "AQAB"}, 0},
		"RSA with 1":    {idp.Claims{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 256)), "e": "AQ"}, 0},
		"RSA":           {idp.Claims{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 256)), "e": "AQAB"}, 1},
		"a text":        {"x", 0}, "null": {nil, 0},
	}
	for name, tc := range tests {
		b, err := json.Marshal(map[string]any{"keys": []any{tc.key}})
		require.NoError(t, err)
		set, skipped, err := jwt.ParseKeys(b)
		if err != nil || set.Len() != tc.want || skipped != 1-tc.want {
			t.Errorf("%s: got %d, %d, %v", name, set.Len(), skipped, err)
		}
	}
	tooMany := `{"keys":[` + strings.Repeat("1,", 100) + `1]}`
	for _, doc := range []string{"", "{}", "[]", `{"keys":{}}`, `{"keys":null}`, `{"keys":[]}x`, `{"keys":[],"keys":[]}`, tooMany} {
		if _, _, err := jwt.ParseKeys([]byte(doc)); err == nil {
			t.Errorf("%.30q is taken for a set of keys", doc)
		}
	}
	if set, _, err := jwt.ParseKeys([]byte(`{"keys":[]}`)); err != nil || set.Len() != 0 {
		t.Errorf("the empty set: got %v, %v", set, err)
	}
}

// TestAllocates nothing for a token that is remembered: it is on the path of each
// request.
func TestAllocates(t *testing.T) {
	p := jwt.New("jwt", jwt.NewIssuer(rules(), known(t)))
	c := access.Credential{Bearer: signed(nil)}
	p.Principal(t.Context(), c)
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		p.Principal(ctx, c)
	}); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}

// BenchmarkRemembered is what a request costs whose token has been seen before.
func BenchmarkRemembered(b *testing.B) {
	p := jwt.New("jwt", jwt.NewIssuer(rules(), known(b)))
	c := access.Credential{Bearer: signed(idp.Claims{"x": strings.Repeat("a", 600)})} // of about 1 KB
	p.Principal(b.Context(), c)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		p.Principal(ctx, c)
	}
}

// BenchmarkVerify is what it costs the first time.
func BenchmarkVerify(b *testing.B) {
	for _, name := range []string{"es", "ed", "rs"} {
		b.Run(signers[name].Algorithm, func(b *testing.B) {
			i := jwt.NewIssuer(rules(), known(b))
			token := signers[name].Sign(claims(nil), nil)
			for b.Loop() {
				p := jwt.New("jwt", i)
				p.Principal(b.Context(), access.Credential{Bearer: token})
			}
		})
	}
}

// FuzzToken: no token but those that the issuer has signed is accepted.
func FuzzToken(f *testing.F) {
	good := signers["ed"].Sign(claims(nil), nil) // of ECDSA each signature has a second form
	f.Add(good)
	f.Add(signers["stranger"].Sign(claims(nil), nil))
	f.Add(signers["ed"].Sign(claims(idp.Claims{"groups": []any{1, nil, "x"}}), idp.Claims{"crit": []string{}}))
	f.Add("e30.e30.x")
	k := known(f)
	f.Fuzz(func(t *testing.T, text string) {
		p := jwt.New("jwt", jwt.NewIssuer(rules(), k))
		who, no := p.Token(t.Context(), text, nil)
		if (who == nil) == (no == nil) || (who != nil) != (text == good) {
			t.Errorf("%q: got %v, %v", text, who, no)
		}
	})
}

// FuzzClaims: claims that the issuer has signed, whatever they are, make a principal of
// that issuer with names that print, or none.
func FuzzClaims(f *testing.F) {
	for _, seed := range []string{`"groups":["a"]`, `"aud":1`, `"exp":1e400`, `"cnf":{}`, `"email":"a@b@example.com","email_verified":true`, `"_claim_names":{"groups":1}`, `"level":[[]]`} {
		f.Add(seed)
	}
	k := &keys{}
	k.are(f, signers["ed"])
	b, _ := json.Marshal(claims(nil))
	f.Fuzz(func(t *testing.T, more string) {
		p := jwt.New("jwt", jwt.NewIssuer(rules(), k))
		who, no := p.Token(t.Context(), signers["ed"].SignText(string(b[:len(b)-1])+","+more+"}", nil), nil)
		if (who == nil) == (no == nil) {
			t.Fatalf("%q: got %v, %v", more, who, no)
		}
		if who != nil && (who.ID != issuer+"|8f3a" || strings.ContainsAny(who.Name+strings.Join(who.Groups, ""), "\n\x1b\x00") || !slices.Contains(who.Scopes, "mcp")) {
			t.Errorf("%q: got %+v", more, who)
		}
	})
}
