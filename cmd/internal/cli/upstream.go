package cli

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// UpstreamURL is the variable by which other bridges are told of their server.
const UpstreamURL = "UPSTREAM_URL"

// Upstream returns the entry of the server that the variables UPSTREAM_… and OAUTH2_… of
// other bridges describe, and the revision to speak: that given, else theirs, "" for any.
func Upstream(getenv func(string) string, note func(format string, a ...any), given string) (e config.Entry, version string, err error) {
	version = given
	if e, err = Remote(getenv(UpstreamURL)); err != nil {
		return e, "", err
	}
	note("the server is that of %s: mcpctl bridge URL names it, too", UpstreamURL)
	if ms := getenv("UPSTREAM_TIMEOUT_MS"); ms != "" {
		n, err := strconv.ParseUint(ms, 10, 31)
		if err != nil || n == 0 {
			return e, "", ui.Usage("UPSTREAM_TIMEOUT_MS is %q, want a number of milliseconds", ms)
		}
		e.RequestTimeout = time.Duration(n) * time.Millisecond
	}
	if v := getenv("UPSTREAM_PROTOCOL_VERSION"); v != "" && given == "" {
		if !slices.Contains(revision.Versions(), v) {
			return e, "", ui.Usage("UPSTREAM_PROTOCOL_VERSION is %q, want %s", v, plain.JoinOr(revision.Versions()))
		}
		version = v
	}
	opens, err := word(getenv, "UPSTREAM_OPEN_SERVER_STREAM", true)
	if err != nil {
		return e, "", err
	}
	e.NoServerStream = !opens
	if e.AllowInsecureHTTP, err = word(getenv, "ALLOW_INSECURE_HTTP", false); err != nil {
		return e, "", err
	}
	e.Auth, err = upstreamAuth(getenv, note)
	return e, version, err
}

// word returns the value of a variable that is true or false.
func word(getenv func(string) string, variable string, otherwise bool) (bool, error) {
	value := getenv(variable)
	if value == "" {
		return otherwise, nil
	}
	on, err := settings.Boolean(value)
	if err != nil {
		return false, ui.Usage("%s is %q, %w", variable, value, err)
	}
	return on, nil
}

// unusedOAuth are the variables of which mcpctl takes no notice: it keeps tokens itself and
// makes its own codes.
func unusedOAuth() []string {
	return []string{
		"REFRESH_SKEW_SECONDS", "AUTHORIZATION_CODE", "REDIRECT_URI", "CODE_VERIFIER", "INTERACTIVE", "CALLBACK_HOST", "CALLBACK_TIMEOUT_SECONDS", "TOKEN_CACHE_DIR",
	}
}

// oauthMembers are the variables that are a member of auth each, with a text.
func oauthMembers() map[string]string {
	return map[string]string{
		"CLIENT_ID": "clientId", "CLIENT_SECRET": "clientSecret", "RESOURCE": "resource", "TOKEN_URL": "tokenEndpoint",
		"AUTHORIZATION_URL": "authorizationEndpoint", "AUDIENCE": "audience", "AUTH_STYLE": "authStyle", "REFRESH_TOKEN": "refreshToken",
		"USERNAME": "username", "PASSWORD": "password",
	}
}

// upstreamAuth returns the auth of an entry by the variables, nil where they say
// nothing. Secrets stay placeholders.
func upstreamAuth(getenv func(string) string, note func(format string, a ...any)) (json.RawMessage, error) {
	get := func(name string) string { return getenv("OAUTH2_" + name) }
	for _, name := range unusedOAuth() {
		if get(name) != "" {
			note("OAUTH2_%s is not used: mcpctl keeps tokens itself and makes its own codes", name)
		}
	}
	auth := map[string]any{}
	for name, key := range oauthMembers() {
		switch text := get(name); {
		case text == "":
		case secret.LooksName(key) && key != "tokenEndpoint":
			auth[key] = "${OAUTH2_" + name + "}"
		default:
			auth[key] = config.Escape(text)
		}
	}
	grant := get("GRANT")
	switch {
	case auth["refreshToken"] != nil && (grant == "" || grant == authconfig.GrantCode): // those bridges begin with it
		grant = authconfig.GrantRefreshToken
		delete(auth, "authorizationEndpoint")
	case grant == "" && auth["clientSecret"] != nil:
		grant = authconfig.GrantClientCredentials
	}
	grants := []string{authconfig.GrantCode, authconfig.GrantClientCredentials, authconfig.GrantPassword, authconfig.GrantRefreshToken}
	if grant != "" && !slices.Contains(grants, grant) {
		return nil, ui.Usage("OAUTH2_GRANT is %q, want %s", grant, plain.JoinOr(grants))
	}
	if grant != "" {
		auth["grant"] = grant
	}
	if auth["tokenEndpoint"] != nil && auth["clientSecret"] != nil && auth["authStyle"] == nil {
		auth["authStyle"] = authconfig.AuthStyleBody // as those bridges do
	}
	if text := get("EXTRA_PARAMS"); text != "" {
		var params map[string]string
		if err := json.Unmarshal([]byte(text), &params); err != nil {
			return nil, ui.Usage("OAUTH2_EXTRA_PARAMS is not a JSON object of texts")
		}
		for name, value := range params {
			params[name] = config.Escape(value)
		}
		auth["extraParams"] = params
	}
	if scopes := strings.Fields(get("SCOPE")); len(scopes) > 0 {
		for i := range scopes {
			scopes[i] = config.Escape(scopes[i])
		}
		auth["scopes"] = scopes
	}
	if text := get("CALLBACK_PORT"); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, ui.Usage("OAUTH2_CALLBACK_PORT is %q, which is not a port", text)
		}
		auth["callbackPort"] = port
	}
	if len(auth) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(auth)
	if err != nil {
		return nil, err
	}
	if _, err := authconfig.Parse(raw); err != nil {
		return nil, ui.Usage("the variables OAUTH2_…, as auth of an entry: %w", err).WithHint("docs/bridge.md has the variable of each")
	}
	return raw, nil
}

// Remote returns the entry of a remote server in no configuration.
func Remote(address string) (config.Entry, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return config.Entry{}, ui.Usage("%s is not the address of a server", config.DisplayURL(address)).WithHint("mcpctl bridge https://api.example.com/mcp")
	}
	return config.Entry{Name: config.DisplayURL(address), URL: config.Escape(address)}, nil
}
