//go:build integration || keycloak

package login_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/mcpctl/mcpctl/test/wire"
)

const (
	// answerEnv has this test binary be a browser, and says what its person answers.
	answerEnv     = "LOGIN_TEST_ANSWER"
	browserLogEnv = "LOGIN_TEST_LOG"
	// person is who logs in, with the password of the same name.
	person = "ada"

	approve, deny = "approve", "deny"

	// doneDevice is what oidc-provider shows at the end of a login with a code.
	doneDevice = "you can now close this page"
)

// browserMain is a browser without a window: it opens a page, fills in the forms of the
// login and of the consent, and ends at a page of mcpctl's.
func browserMain(page, answer string) int {
	title, err := browse(page, answer)
	said := title
	if err != nil {
		said = err.Error()
	}
	log := os.Getenv(browserLogEnv)
	if errors.Join(err, os.WriteFile(log+"~", []byte(said), 0o600), os.Rename(log+"~", log)) != nil {
		return 1
	}
	return 0
}

// browse returns the title of the page that a login ends at.
func browse(page, answer string) (title string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wire.Limit)
	defer cancel()
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	c := &http.Client{Jar: jar}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	for range 10 {
		if err != nil {
			return "", err
		}
		at, text, err := load(c, req)
		if err != nil {
			return "", err
		}
		if at.Path == "/callback" || strings.Contains(text, doneDevice) {
			return between(text, "<title>", "</title>"), nil
		}
		if req, err = next(ctx, at, text, answer); err != nil {
			return "", fmt.Errorf("%s: %w:\n%s", at, err, text)
		}
	}
	return "", errors.New("too many pages")
}

// load returns a page and where it is in the end.
func load(c *http.Client, req *http.Request) (*url.URL, string, error) {
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 400 {
		err = fmt.Errorf("%s: HTTP %d:\n%s", resp.Request.URL, resp.StatusCode, body)
	}
	return resp.Request.URL, string(body), err
}

var (
	formTag   = regexp.MustCompile(`(?s)<form\b([^>]*)>(.*?)</form>`)
	fieldTag  = regexp.MustCompile(`(?s)<(?:input|button)\b([^>]*)>`)
	cancelTag = regexp.MustCompile(`(?s)<a\b([^>]*)>\[ Cancel \]`)
	attribute = regexp.MustCompile(`([\w-]+)\s*=\s*"([^"]*)"`)
)

// next returns what the person does on a page: sends its form, or cancels the consent.
func next(ctx context.Context, at *url.URL, text, answer string) (*http.Request, error) {
	form := formTag.FindStringSubmatch(text)
	if form == nil {
		return nil, errors.New("the page has no form")
	}
	fields, asked := url.Values{}, true // for consent
	for _, tag := range fieldTag.FindAllStringSubmatch(form[2], -1) {
		a := attributes(tag[1])
		switch name := a["name"]; {
		case name == "login", name == "username", a["type"] == "password":
			fields.Set(name, person)
			asked = false
		case a["type"] != "submit":
			fields.Set(name, a["value"])
		case name == "accept" && answer == approve, name == "cancel" && answer == deny:
			fields.Set(name, a["value"])
		}
	}
	if link := cancelTag.FindStringSubmatch(text); asked && answer == deny && link != nil {
		to, err := at.Parse(attributes(link[1])["href"])
		if err != nil {
			return nil, err
		}
		return http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	}
	to, err := at.Parse(attributes(form[1])["action"])
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(fields.Encode()))
	if err == nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req, err
}

func attributes(tag string) map[string]string {
	all := map[string]string{}
	for _, a := range attribute.FindAllStringSubmatch(tag, -1) {
		all[a[1]] = html.UnescapeString(a[2])
	}
	return all
}

func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return html.UnescapeString(found)
}
