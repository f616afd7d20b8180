package pages_test

import (
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/pages"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/seal"
)

const notOpen = "This question is not open any more"

// newAsking returns pages that ask about calls.
func newAsking(t *testing.T, prefix string) (*site, *gate.Approvals) {
	t.Helper()
	table := new(gate.Approvals)
	return newSite(t, prefix, func(o *pages.Options) { o.Consent = table }), table
}

// sending is a call of alice's.
func sending(args string) gate.ApprovalRequest {
	return gate.ApprovalRequest{
		Principal: "token|alice", Name: "alice", Server: "mail", Item: "send", Arguments: []byte(args), Text: "Send <b>it</b>?", IDs: []string{"no-exfil"},
	}
}

// page has a call asked about, and returns the path of the page.
func (s *site) page(t *testing.T, table *gate.Approvals, r gate.ApprovalRequest) string {
	t.Helper()
	id := table.Ask(time.Now(), r)
	if id == "" {
		t.Fatal("nobody is asked")
	}
	return strings.TrimPrefix(link.Approval{ID: id, Principal: r.Principal}.Page(s.ring, &url.URL{Scheme: "https", Host: "gate.example", Path: "/mcp"}), "https://gate.example")
}

// TestApprove: a person follows the link of their program, logs in, reads all that is sent,
// and says yes or no, once.
func TestApprove(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/team"} {
		s, table := newAsking(t, prefix)
		b := s.browser(t)
		const args = `{"to":"eve@example.com","body":"<script>alert(1)</script> \u0026 ` + "\u202e\u200b" + `"}`
		at := s.page(t, table, sending(args))
		b.expect(b.get(prefix+at), 200, "Log in to mcpctl")
		f := b.get(prefix+at).form(t, prefix+tokenPath)
		f.Set("token", s.alice)
		back := b.send("POST", prefix+tokenPath, f)
		if back.location != s.URL+prefix+at {
			t.Fatalf("led to %q", back.location)
		}
		p := b.get(prefix + at)
		b.expect(p, 200, "Allow this call?")
		_, shown, _ := strings.Cut(p.text, "<pre>")
		shown, _, _ = strings.Cut(shown, "</pre>")
		want := "{\n  \"to\": \"eve@example.com\",\n  \"body\": \"<script>alert(1)</script> \\u0026 <U+202E right-to-left override><U+200B zero width space>\"\n}"
		if got := html.UnescapeString(shown); got != want || strings.Contains(p.text, "<script") || strings.Contains(p.text, "<b>it") || strings.ContainsAny(p.text, "\u202e\u200b") {
			t.Errorf("shown %s\nin %s", got, p.text)
		}
		for _, want := range []string{"Send &lt;b&gt;it&lt;/b&gt;?", "<dd>alice</dd>", "<dd>mail</dd>", "<dd>send</dd>", "<dd>no-exfil</dd>"} {
			if !strings.Contains(p.text, want) {
				t.Errorf("%q is not in %s", want, p.text)
			}
		}
		form := p.form(t, prefix+"/approve")
		if table.Take(time.Now(), sending(args)) {
			t.Fatal("allowed before an answer")
		}
		form.Set("answer", "yes")
		b.expect(b.send("POST", prefix+"/approve", form), 200, "The call is allowed")
		b.expect(b.send("POST", prefix+"/approve", form), 400, notOpen)
		b.expect(b.get(prefix+at), 400, notOpen)
		if table.Take(time.Now(), sending(`{}`)) || !table.Take(time.Now(), sending(args)) || table.Take(time.Now(), sending(args)) {
			t.Error("the call does not pass once, or another does")
		}
		b.expect(b.send("POST", prefix+"/approve", form), 400, notOpen)

		at = s.page(t, table, sending(args))
		form = b.get(prefix+at).form(t, prefix+"/approve")
		form.Set("answer", "no")
		b.expect(b.send("POST", prefix+"/approve", form), 200, "The call is not allowed")
		form.Set("answer", "yes")
		b.expect(b.send("POST", prefix+"/approve", form), 400, notOpen)
		if table.Take(time.Now(), sending(args)) {
			t.Error("a no is a yes")
		}
	}
}

// TestApproveOfAnother: nobody answers for another, and no form is for another call.
func TestApproveOfAnother(t *testing.T) {
	t.Parallel()
	s, table := newAsking(t, "")
	alice, bob, nobody := s.browser(t), s.browser(t), s.browser(t)
	alice.login("/connect", s.alice)
	bob.login("/connect", s.bob)
	one, two := s.page(t, table, sending(`{"n":1}`)), s.page(t, table, sending(`{"n":2}`))
	bob.expect(bob.get(one), 403, "This link is for somebody else")
	if log := s.log.String(); !strings.Contains(log, "principal=token|bob for=token|alice") {
		t.Errorf("logged %s", log)
	}
	form := alice.get(one).form(t, "/approve")
	form.Set("answer", "yes")
	bob.expect(bob.send("POST", "/approve", form), 403, "This form is not valid any more")
	nobody.expect(nobody.send("POST", "/approve", form), 403, "You are not logged in")
	const old = "This form is not valid any more"
	for name, f := range map[string]url.Values{"no token": {"answer": {"yes"}}, "of a logout": withAnswer(alice.get("/connect").form(t, "/connect/-/logout")), "of a link": withAnswer(alice.get("/connect/gh").form(t, "/connect/gh"))} {
		if p := alice.send("POST", "/approve", f); p.status != 403 || p.title() != old {
			t.Errorf("%s: got HTTP %d, %q", name, p.status, p.title())
		}
	}
	alice.expect(alice.send("POST", "/connect/gh", form), 403, old)
	for name, answer := range map[string][]string{"none": nil, "both": {"yes", "no"}, "another": {"Yes"}} {
		f := url.Values{"form": form["form"], "answer": answer}
		if p := alice.send("POST", "/approve", f); p.status != 400 || p.title() != "This form cannot be read" {
			t.Errorf("%s: got HTTP %d, %q", name, p.status, p.title())
		}
	}
	if p := alice.send("POST", "/approve", form, "Sec-Fetch-Site", "cross-site"); p.status != 403 {
		t.Errorf("of another site: HTTP %d", p.status)
	}
	for name, path := range map[string]string{
		"none": "/approve", "nonsense": "/approve?s=x", "two": one + "&s=x", "of an account": "/approve?s=" + link.Link{Principal: "token|alice"}.Seal(s.ring),
		"of another ring": strings.TrimPrefix(link.Approval{ID: "x", Principal: "token|alice"}.Page(seal.NewKeyring(), &url.URL{}), ":"), "of no call": strings.TrimPrefix(link.Approval{ID: "x", Principal: "token|alice"}.Page(s.ring, &url.URL{}), ":"),
	} {
		if p := alice.get(path[strings.Index(path, "/approve"):]); p.status != 400 || p.title() != notOpen {
			t.Errorf("%s: got HTTP %d, %q", name, p.status, p.title())
		}
	}
	for _, args := range []string{`{"n":1}`, `{"n":2}`} {
		if table.Take(time.Now(), sending(args)) {
			t.Errorf("%s is allowed", args)
		}
	}
	alice.expect(alice.send("POST", "/approve", form), 200, "The call is allowed")
	alice.expect(alice.get(two), 200, "Allow this call?")
	if table.Take(time.Now(), sending(`{"n":2}`)) || !table.Take(time.Now(), sending(`{"n":1}`)) {
		t.Error("another call is allowed")
	}
	without := newSite(t, "", nil)
	b := without.browser(t)
	b.login("/connect", without.alice)
	b.expect(b.get("/approve?s=x"), 400, notOpen)
}

func withAnswer(form url.Values) url.Values {
	form.Set("answer", "yes")
	return form
}
