package auth

import (
	"net/url"
	"strings"
)

// knownService is where the tokens of a known service are made.
type knownService struct {
	Name  string
	hosts []string // each with the hosts below it
	// Page says where the tokens are made, Rights which rights they need.
	Page, Rights string
}

// services are those whose servers are known to take a token that is made by hand. The
// rights are those for reading.
var services = []knownService{ //nolint:gochecknoglobals // a constant table
	{"Sentry", []string{"sentry.io", "sentry.dev"}, "https://sentry.io/settings/account/api/auth-tokens/", "org:read, project:read, team:read, event:read"},
	{"GitHub", []string{"github.com", "githubcopilot.com", "ghe.com"}, "https://github.com/settings/personal-access-tokens/new", "repository access; for a classic token: repo, read:org"},
	{"Slack", []string{"slack.com"}, "https://api.slack.com/apps", "of a user token: channels:history, channels:read, search:read, users:read"},
	{"Linear", []string{"linear.app"}, "https://linear.app/settings/account/security", "Read; Write for tools that change issues"},
	{"Notion", []string{"notion.com", "notion.so"}, "https://www.notion.so/profile/integrations", "Read content, and access to the pages in question"},
	{"GitLab", []string{"gitlab.com"}, "https://gitlab.com/-/user_settings/personal_access_tokens", "read_api; api for tools that change something"},
	{"Jira and Confluence", []string{"atlassian.com", "atlassian.net", "jira.com"}, "https://admin.atlassian.com (an API key of a service account)", "read:jira-work, read:confluence-content.all"},
	{"Grafana", []string{"grafana.com", "grafana.net"}, "https://grafana.com/docs/grafana/latest/administration/service-accounts/", "a service account with the role Viewer"},
	{"Cloudflare", []string{"cloudflare.com"}, "https://dash.cloudflare.com/profile/api-tokens", "the template Read all resources"},
	{"Datadog", []string{"datadoghq.com", "datadoghq.eu", "ddog-gov.com"}, "https://app.datadoghq.com/personal-settings/personal-access-tokens", "mcp_read; mcp_write for tools that change something"},
	{"PagerDuty", []string{"pagerduty.com"}, "https://support.pagerduty.com/main/docs/api-access-keys", "a user token has the rights of its user"},
	{"Honeycomb", []string{"honeycomb.io"}, "https://docs.honeycomb.io/configure/teams/manage-api-keys", "a management key, as KEYID:SECRET, with mcp:read, environments:read"},
}

// serviceOf returns the known service of a server, false for none.
func serviceOf(server *url.URL) (knownService, bool) {
	host := strings.ToLower(server.Hostname())
	for _, s := range services {
		for _, h := range s.hosts {
			if host == h || strings.HasSuffix(host, "."+h) {
				return s, true
			}
		}
	}
	return knownService{}, false
}
