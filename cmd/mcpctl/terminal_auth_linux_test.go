package main_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestTokenOnATerminal: where the issuer does not register us, a person is asked for a
// token, which is not shown, once more where the server refuses it.
func TestTokenOnATerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		types []string
		again string // what is drawn before the person is asked again
		code  int
		drawn string
	}{
		"right":                {[]string{"hand\r"}, "", 0, "There is no login in the browser: authorization server http://127.0.0.1:"},
		"wrong, then right":    {[]string{"wr0ng\r", "hand\r"}, " refuses the token.", 0, " refuses the token."},
		"wrong twice":          {[]string{"wr0ng\r", "wr0ng\r"}, " refuses the token.", 4, "it refuses the token"},
		"no word, then a word": {[]string{"hand hand\r", "hand\r"}, "want one word", 0, "want one word"},
		"broken off":           {[]string{"\x03"}, "", 130, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIssuer()
			s.noRegistration, s.valid = true, []string{"hand"}
			fake := s.start()
			defer s.Close()
			defer fake.Close()
			var answers [][2]string
			prompt := "(not shown):"
			for _, keys := range c.types {
				answers = append(answers, [2]string{prompt, keys})
				// Each key draws the prompt again, so it does not say that the next one has come.
				prompt = c.again
			}
			p := openTerminal(t, answers...)
			out, code := atTerminal(t, p, []string{"MCPCTL_CALLBACK_PORT=0"}, "--url", fake.URL, "-o", "text", "tools")
			if code != c.code || (code == 0) != strings.Contains(out, "echo") {
				t.Errorf("got exit %d, %s; drawn:\n%s", code, out, p.text())
			}
			if !strings.Contains(p.text(), c.drawn) || !strings.Contains(p.text(), "(not shown):") {
				t.Errorf("%q is not drawn:\n%s", c.drawn, p.text())
			}
			if strings.Contains(p.text(), "hand") || strings.Contains(p.text(), "wr0ng") {
				t.Errorf("the token is drawn:\n%s", p.text())
			}
		})
	}
}

// TestNoTokenIsAskedFor: not with --no-input, and not where the input is no terminal.
func TestNoTokenIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	s.noRegistration, s.valid = true, []string{"hand"}
	fake := s.start()
	defer s.Close()
	defer fake.Close()
	p := openTerminal(t)
	_, code := atTerminal(t, p, nil, "--url", fake.URL, "--no-input", "--callback-port", "0", "auth", "login")
	if code != 4 || strings.Contains(p.text(), "not shown") || !strings.Contains(p.text(), "--token-stdin") {
		t.Errorf("got exit %d; drawn:\n%s", code, p.text())
	}
}

// TestPasteOnATerminal: the address that a browser elsewhere has ended at is pasted.
func TestPasteOnATerminal(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	fake := s.start()
	defer s.Close()
	defer fake.Close()
	p := openTerminal(t, [2]string{"if it cannot reach this machine:", ""})
	p.line = func(drawn string) string {
		m := regexp.MustCompile(`http://\S+/authorize\S+`).FindString(drawn)
		c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := c.Get(m)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		back, err := url.Parse(resp.Header.Get("Location"))
		if err != nil {
			return err.Error()
		}
		return strings.ReplaceAll(back.String(), "R", "%52") + "\r"
	}
	out, code := atTerminal(t, p, nil, "--url", fake.URL, "--no-browser", "--callback-port", "0", "-o", "text", "auth", "login")
	if code != 0 || !strings.Contains(out, "logged in to ") {
		t.Errorf("got exit %d, %s; drawn:\n%s", code, out, p.text())
	}
}

// TestAddOffersLogin: after an addition a person may log in at once.
func TestAddOffersLogin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, drawn string }{
		"yes":        {"y\r", "logged in to a, until"},
		"no":         {"n\r", "log in later: mcpctl auth login a"},
		"broken off": {"\x03", "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIssuer()
			fake := s.start()
			defer s.Close()
			defer fake.Close()
			p := openTerminal(t, [2]string{"Log in now", c.key})
			browser := filepath.Join(t.TempDir(), "browser")
			require.NoError(t, require.WriteProgram(browser, []byte("#!/bin/sh\nexec fake-browser \"$1\"\n"), 0o700))
			out, code := atTerminal(t, p, []string{"BROWSER=" + browser, "MCPCTL_CALLBACK_PORT=0"}, "-o", "json", "add", "a", "--url", fake.URL)
			want := map[bool]int{true: 130, false: 0}[name == "broken off"]
			if code != want || !strings.Contains(out, `"alias":"a"`) || !strings.Contains(p.text(), c.drawn) {
				t.Errorf("got exit %d, %s; drawn:\n%s", code, out, p.text())
			}
		})
	}
}
