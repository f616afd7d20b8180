package auth

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"
)

// TestPoll: how long a code is waited for, and how often the issuer is asked.
func TestPoll(t *testing.T) {
	t.Parallel()
	pending, slower := &OAuthError{Code: "authorization_pending"}, &OAuthError{Code: "slow_down"}
	denied, expired := &OAuthError{Code: "access_denied"}, &OAuthError{Code: "expired_token"}
	for name, c := range map[string]struct {
		answers []error // nil is the token; the last goes on
		after   time.Duration
		want    error
	}{
		"at once":                 {[]error{nil}, 5 * time.Second, nil},
		"undecided, asked slower": {[]error{pending, pending, slower, pending, nil}, (5 + 5 + 5 + 10 + 10) * time.Second, nil},
		"no answer in time":       {[]error{context.DeadlineExceeded, nil}, (5 + 10) * time.Second, nil},
		"denied":                  {[]error{pending, denied}, 10 * time.Second, denied},
		"expired":                 {[]error{pending, expired}, 10 * time.Second, errCodeExpired},
		"never":                   {[]error{pending}, time.Minute, errCodeExpired},
		"slower for ever":         {[]error{slower}, time.Minute, errCodeExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errCodeExpired)
				defer cancel()
				begin, answers := time.Now(), c.answers
				a, err := poll(ctx, 5*time.Second, func(context.Context) (*answer, error) {
					err := answers[0]
					if len(answers) > 1 {
						answers = answers[1:]
					}
					return &answer{}, err
				})
				if took := time.Since(begin); !errors.Is(err, c.want) || took != c.after || err == nil && a == nil {
					t.Errorf("got %v after %v, want %v after %v", err, took, c.want, c.after)
				}
			})
		})
	}
}

// TestServices: every service is found by its hosts and those below, and by no other.
func TestServices(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"mcp.sentry.dev": "Sentry", "api.githubcopilot.com": "GitHub", "MCP.slack.com": "Slack", "mcp.linear.app": "Linear", "mcp.notion.com": "Notion",
		"gitlab.com": "GitLab", "mcp.atlassian.com": "Jira and Confluence", "acme.atlassian.net": "Jira and Confluence", "acme.grafana.net": "Grafana",
		"observability.mcp.cloudflare.com:443": "Cloudflare", "mcp.us5.datadoghq.com": "Datadog", "mcp.pagerduty.com": "PagerDuty", "mcp.honeycomb.io": "Honeycomb",
		"github.com.evil.example": "", "notgithub.com": "", "example.com": "", "127.0.0.1": "",
	} {
		if got := hintFor(&url.URL{Scheme: "https", Host: host}); got.Service != want || (want == "") != (got.Page == "") || (want == "") != (got.Rights == "") {
			t.Errorf("%s: got %+v, want %q", host, got, want)
		}
	}
}

// TestCheckToken: a token is one word.
func TestCheckToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"abc": "abc", " abc\r\n": "abc", "hcxmk_1:se-cr.et~+/=": "hcxmk_1:se-cr.et~+/=",
		"": "", "\n": "", "a b": "", "Bearer a": "", "a\nb": "", "a\x00b": "", "a\x1b[31m": "", "tökén": "", "a\u200bb": "",
	} {
		if got, err := CheckToken(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

// TestClearHost: http is allowed to one host, not to what it names.
func TestClearHost(t *testing.T) {
	t.Parallel()
	g := &guard{clear: "mcp.example"}
	for text, ok := range map[string]bool{
		"http://mcp.example/x": true, "http://MCP.example:81/": true, "https://as.example/": true, "http://as.example/": false, "http://u@mcp.example/": false, "ftp://mcp.example/": false,
	} {
		if _, err := g.safe(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
