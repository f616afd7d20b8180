package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// spelling is a URI and a text that some program takes for the same.
type spelling struct{ uri, spelt string }

// spellings are those of resources that TestSpellings forbids.
var spellings = []spelling{
	{"file:///D/priv/x", "file:///D/priv/x"},
	{"file:///D/priv/x", "file://localhost/D/priv/x"},
	{"file:///D/priv/x", "FILE://LocalHost/D/priv/x"},
	{"file:///D/priv/x", "file://other.example/D/priv/x"},
	{"file:///D/priv/x", "file:/D/priv/x"},
	{"file:///D/priv/x", "file:////D/priv/x"},
	{"file:///D/priv/x", "file:///D//priv/x"},
	{"file:///D/priv/x", "file:///D/pub?/../priv/x"},
	{"file:///D/priv/x", "file:///D/pub#/../priv/x"},
	{"file:///D/priv/x", "file:///D/pub?/..%2Fpriv/x"},
	{"file:///D/priv/x", "file:///D/pub?/%2e%2E/priv/x"},
	{"file:///D/priv/x", "file:///D/priv/x?y"},
	{"file:///D/priv/x", "file:///D/priv/x#y"},
	{"file:///D/priv/x", `file:\\\D\priv\x`},
	{"file:///D/priv/x", `file:///D\priv\x`},
	{"file:///D/priv/x", `file:///D/pub?\..\priv\x`},
	{"file:///D/priv/x", "file:///D/pub/../priv/x"},
	{"file:///D/priv/x", "file:///D/pub/%2e%2E/priv/x"},
	{"file:///D/priv/x", "file:///D/pub/..%2fpriv/x"},
	{"file:///D/priv/x", "file:///D/pub%5c..%5cpriv/x"},
	{"file:///D/priv/x", "file:///D/priv%2Fx"},
	{"file:///D/priv/x", "file:///D/pr%69v/x"},
	{"file:///D/priv/x", " file:///D/priv/x"},
	{"file:///D/priv/x", "file:///D/pr\niv/x"},
	{"file:///D/priv/x", "fi\tle:///D/priv/x"},
	{"https://intranet.example/x", "https://intranet.example/x"},
	{"https://intranet.example/x", "HTTPS://Intranet.Example/x"},
	{"https://intranet.example/x", "https://intranet.example:443/x"},
	{"https://intranet.example/x", "https://intranet.example:0443/x"},
	{"https://intranet.example/x", "https://intranet.example:/x"},
	{"https://intranet.example/x", "https://u@intranet.example/x"},
	{"https://intranet.example/x", "https://u:p@intranet.example/x"},
	{"https://intranet.example/x", "https://u@v@intranet.example/x"},
	{"https://intranet.example/x", "https://intranet.example./x"},
	{"https://intranet.example/x", "https://u@intranet.example.:443/x"},
	{"https://intranet.example/x", `https:\\intranet.example\x`},
	{"https://intranet.example/x", `https:/\intranet.example/x`},
	{"https://intranet.example/x", `https://intranet.example\x`},
	{"https://intranet.example/x", "https:intranet.example/x"},
	{"https://intranet.example/x", "https:/intranet.example/x"},
	{"https://intranet.example/x", "https:///intranet.example/x"},
	{"https://intranet.example/x", "https:////intranet.example/x"},
	{"https://intranet.example/x", "https://%69ntranet.example/x"},
	{"https://intranet.example/x", "https://intra\nnet.example/x"},
	{"https://intranet.example/x", "https://intranet.example/y/../x"},
	{"https://intranet.example/x", "https://intranet.example/y/%2e%2e/x"},
	{"https://intranet.example/x", "https://intranet.example/y/..%2Fx"},
	{"https://intranet.example/x", "https://intranet.example/y?/../x"},
	{"https://intranet.example/x", "https://intranet.example/x#y"},
	{"https://intranet.example/x", "https://intranet.example//x"},
	{"https://intranet.example/x", "https://other.example/../intranet.example/x"},
	{"https://intranet.example/", "https://intranet.example"},
	{"https://intranet.example/", "https://intranet.example?"},
	{"https://intranet.example/", "https://intranet.example#y"},
	{"https://intranet.example/@other.example/x", `https://intranet.example\@other.example/x`},
	{"https://intranet.example/x", `https://other.example\@intranet.example/x`},
	{"http://intranet.example/x", "http://intranet.example:80/x"},
	{"ws://intranet.example/x", "ws:intranet.example:80/x"},
	{"wss://intranet.example/x", "wss:/intranet.example:443/x"},
	{"ftp://intranet.example/x", "ftp:///intranet.example:21/x"},
	{"note://priv/1", "NOTE://priv/1"},
	{"note://priv/1", "note://PRIV/1"},
	{"note://priv/1", "note://pub/../priv/1"},
	{"note://priv/1", "note://pub?/../priv/1"},
	{"note://priv/1", "note://priv/%31"},
	{"note:priv/1", "note:pub/../priv/1"},
	{"note:priv/1", "note:./priv/1"},
	{"note:priv/1", "note:pub/%2e./priv/1"},
	{"note:priv/1", "note:pub/..%2fpriv/1"},
	{"note:priv/1", "note:pub#/../priv/1"},
}

// folderOf returns a pattern of what is beside a resource.
func folderOf(uri string) string {
	return uri[:strings.LastIndexByte(uri, '/')+1] + "**"
}

// reads reports whether alice may read a resource of fs, under policies.
func reads(t *testing.T, text, uri string) (bool, policy.Outcome) {
	t.Helper()
	v := compile(t, text).Snapshot(testServers, nil).View(alice)
	it := policy.Item{Kind: policy.Resource, Server: "fs", Name: uri}
	visible, c := v.Unlisted(it)
	if listed, _ := compile(t, text).Snapshot(testServers, []policy.Item{it}).View(alice).Item(0); listed != visible {
		t.Errorf("%q is visible: %v; in a list %v", uri, visible, listed)
	}
	request := &policy.Request{Principal: alice, Transport: "http"}
	if visible && c != nil {
		out := c.Decide(request)
		return out.Verdict == policy.Allow, out
	}
	return visible, v.Explain(policy.Read, it, request).Outcome
}

// TestSpellings: what forbids a resource does so however its URI is written.
func TestSpellings(t *testing.T) {
	const around = `@id("around") permit (principal, action, resource in Label::"fs/%s:**");`
	for _, s := range spellings {
		scheme, _, _ := strings.Cut(s.uri, ":")
		glob := `resource in Label::"fs/` + folderOf(s.uri) + `"`
		when := `when {resource.uri like "` + strings.TrimSuffix(folderOf(s.uri), "*") + `"}`
		for name, text := range map[string]string{
			"default allow":       permitAll + `@id("b") forbid (principal, action, ` + glob + `);`,
			"allow around":        fmt.Sprintf(around, scheme) + `@id("b") forbid (principal, action, ` + glob + `);`,
			"allow of the server": `@id("a") permit (principal, action, resource in Server::"fs"); @id("b") forbid (principal, action, ` + glob + `);`,
			"Cedar, like":         permitAll + `@id("b") forbid (principal, action, resource) ` + when + `;`,
			"Cedar, in":           permitAll + `@id("b") forbid (principal, action, resource) when {` + glob + `};`,
			"Cedar, context":      permitAll + `@id("b") forbid (principal, action, ` + glob + `) when {context.front == "http"};`,
			"Cedar, both":         permitAll + `@id("b") forbid (principal, action, resource) ` + when + ` when {context.front == "http"};`,
		} {
			if ok, _ := reads(t, text, s.spelt); ok {
				t.Errorf("%s: %q is read, which stands for %s", name, s.spelt, s.uri)
			}
		}
		ask := permitAll + `@id("b") @ask("sure?") forbid (principal, action, ` + glob + `);`
		if ok, _ := reads(t, ask, s.spelt); ok {
			t.Errorf("nobody is asked about %q, which stands for %s", s.spelt, s.uri)
		}
	}
}

// TestSpelledRules: what is written of a rule stands for what its URI stands for.
func TestSpelledRules(t *testing.T) {
	for _, s := range [][2]string{
		{"FILE:///D/priv/**", "file:///D/priv/x"},
		{"file:/D/priv/**", "file:///D/priv/x"},
		{"file://localhost/D/priv/**", "file:///D/priv/x"},
		{"file:///D/pub/../priv/*", "file:///D/priv/x"},
		{"file:///D/my notes/**", "file:///D/my%20notes/x"},
		{"file:///D/my%20notes/**", "file:///D/my notes/x"},
		{"file:///D/p%72iv/**", "file:///D/priv/x"},
		{"https://Intranet.Example/**", "https://intranet.example/x"},
		{"https://intranet.example:443/**", "https://intranet.example/x"},
		{"https://intranet.example", "https://intranet.example/"},
		{"https://*.Example", "https://intranet.example"},
		{"https://**", "https://intranet.example"},
		{"https:**", "https://intranet.example"},
		{"https://intra**", "https://intranet.example/x"},
		{"note://Alice/**", "note://Alice/x"},
		{"note://Alice/**", "note://alice/x"},
		{"*://Alice/**", "note://Alice/x"},
		{"**", "note://Alice/x"},
	} {
		if ok, _ := reads(t, permitAll+`@id("b") forbid (principal, action, resource in Label::"fs/`+s[0]+`");`, s[1]); ok {
			t.Errorf("a rule against %s lets %s be read", s[0], s[1])
		}
		if ok, _ := reads(t, `@id("b") permit (principal, action, resource in Label::"fs/`+s[0]+`");`, s[1]); !ok && s[0] != "*://Alice/**" {
			t.Errorf("a rule for %s does not let %s be read", s[0], s[1])
		}
	}
}

// TestAllowed: what is allowed is so if everybody who reads the URI finds it allowed.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		to, uri string
		want    bool
	}{
		{"file:///D/pub/**", "file:///D/pub/x", true},
		{"file:///D/pub/**", "FILE:///D/pub/x", true},
		{"file:///D/pub/**", "file:/D/pub/x", true},
		{"file:///D/pub/**", "file://localhost/D/pub/x", true},
		{"file:///D/pub/**", "file:///D/priv/../pub/x", true},
		{"file:///D/pub/**", "file:///D/pub/a b", true},
		{"file:///D/pub/**", "file:///D/pub/x?v=1", true},
		{"file:///D/pub/**", "file:///D/pub/x?/../y", true},
		{"file:///D/pub/**", "file:///D/pub/x?/../../priv/y", false},
		{"file:///D/pub/**", "file:///D/pub/x#/../../priv/y", false},
		{"file:///D/pub/**", "file:///D/pub/..%2fpriv/y", false},
		{"file:///D/pub/*", "file:///D/pub/a%2fb", false},
		{"file:///D/pub/**", `file:///D/pub/..\priv\y`, false},
		{"file:///D/pub/**", "file://other.example/D/pub/x", false},
		{"file:///D/pub/**", "file:///C:/../D/pub/x", false},
		{"file:///D/pub/**", "file:///C:a/../D/pub/x", false},
		{"file://documents/**", "file://documents/x", true},
		{"https://h.example/**", "https://h.example/x", true},
		{"https://h.example/**", "https://h.example", true},
		{"https://h.example/**", "https://h.example:443/x", true},
		{"https://h.example/**", "https://h.example:0/x", false},
		{"https://h.example/**", "https://h.example/x?u=https://other.example//y", true},
		{"https://h.example/x?u=https://**", "https://h.example/x?u=https://other.example//y", true},
		{"https://h.example/*", "https://h.example/a%2fb", true},
		{"https://h.example/a/**", "https://h.example/a/x?/../../b", false},
		{"https://**", "https:h.example/x", false},
		{"https://**", `https:\\h.example\x`, false},
		{"https://**", "https:///h.example/x", true},
		{"https://h.example/**", "https:h.example/x", false},
		{"https://h.example/**", `https://h.example\@other.example/x`, false},
		{"https://h.example/**", `https://other.example\@h.example/x`, false},
		{"https://h.example/**", "https://u@h.example/x", false},
		{"https://h.example/**", "https://h.example./x", false},
		{"note:pub/**", "note:pub/1", true},
		{"note:pub/**", "note:pub/../priv/1", false},
		{"note://pub/**", "note://pub/../../priv/1", false},
	} {
		for _, text := range []string{
			`@id("b") permit (principal, action, resource in Label::"fs/` + c.to + `");`,
			`@id("b") permit (principal, action, resource) when {resource in Label::"fs/` + c.to + `" && context.front == "http"};`,
		} {
			if got, _ := reads(t, text, c.uri); got != c.want {
				t.Errorf("a rule for %s lets %q be read: %v", c.to, c.uri, got)
			}
		}
	}
}

// TestAmbiguous: a URI that is read in two ways is refused only where a rule refuses or asks
// about something of its scheme and host.
func TestAmbiguous(t *testing.T) {
	for _, c := range []struct {
		rule, uri string
		want      bool
	}{
		{"file:///D/priv/**", "file:///D/pub?/../x", false},
		{"file:///D/priv/**", "file:///D/pub/..%2fx", false},
		{"file:///D/priv/**", "file:///D/a%00b", false},
		{"file:///D/priv/**", "file:///D/100%", false},
		{"https://h.example/priv/**", "https://h.example/pub?/../x", false},
		{"https://h.example/priv/**", `https://h.example\x`, false},
		{"https://h.example/priv/**", `https://other.example\@h.example/x`, false},
		{"https://h.example/priv/**", "https://ｈ.example/x", false},
		{"https://127.0.0.1/priv/**", "https://0x7f.1/pub/x", false},
		{"note:priv/**", "note:pub/../x", false},
		{"https://other.example/priv/**", `https://h.example\x`, true},
		{"https://h.example/priv/**", "https://h.example/x", true},
		{"https://h.example/priv/**", "https://h.example/x?u=../priv/y", true},
		{"https://h.example/priv/**", "https://h.example/x?u=https://h.example/priv/y", true},
		{"https://h.example/priv/**", "https://h.example/a%2fb", true},
		{"https://h.example/priv/**", "https://u@h.example./x//y#z", true},
		{"https://other.example/**", "https://h.example/pub?/../x", true},
		{"http://h.example/**", "https://h.example/pub?/../x", true},
		{"file:///D/priv/**", "https://h.example/pub?/../x", true},
		{"https://h.example/priv/**", "file:///D/pub?/../x", true},
		{"note://a/**", "note://b/x?/../y", true},
		{"file:///D/priv/**", "file://localhost/D/pub/x", true},
		{"file:///D/priv/**", "file:///D/pub/x?v=1", true},
		{"file:///D/priv/**", "file://documents/x", true},
	} {
		for name, rule := range map[string]string{
			"deny":          `forbid (principal, action, resource in Label::"fs/%s");`,
			"ask":           `@ask("sure?") forbid (principal, action, resource in Label::"fs/%s");`,
			"deny, context": `forbid (principal, action, resource in Label::"fs/%s") when {context.front == "http"};`,
		} {
			got, out := reads(t, permitAll+`@id("b") `+fmt.Sprintf(rule, c.rule), c.uri)
			if got != c.want {
				t.Errorf("%s %s: %q is read: %v, want %v", name, c.rule, c.uri, got, c.want)
			}
			if !c.want && (out.Verdict != policy.Deny || out.Reason != "ambiguous URI" || len(out.By) != 1 || out.By[0].ID != "b") {
				t.Errorf("%s %s: %q: %+v", name, c.rule, c.uri, out)
			}
		}
		if got, _ := reads(t, permitAll, c.uri); !got {
			t.Errorf("without a rule %q is not read", c.uri)
		}
		for name, rule := range map[string]string{
			"limit":          `@over("5/m") forbid (principal, action, resource in Label::"fs/%s");`,
			"shadow":         `@shadow forbid (principal, action, resource in Label::"fs/%s");`,
			"another action": `forbid (principal, action == Action::"call", resource in Label::"fs/%s");`,
			"another server": `forbid (principal, action, resource in Label::"gh/%s");`,
		} {
			if got, _ := reads(t, permitAll+`@id("b") `+fmt.Sprintf(rule, c.rule), c.uri); !got {
				t.Errorf("%s %s: %q is not read", name, c.rule, c.uri)
			}
		}
	}
}

// TestSpelledTemplates: templates are compared as URIs are.
func TestSpelledTemplates(t *testing.T) {
	for _, c := range []struct {
		rule, template string
		visible        bool
	}{
		{"file:///D/priv/**", "file:///D/priv/{+path}", false},
		{"file:///D/priv/**", "file://localhost/D/priv/{+path}", false},
		{"file:///D/priv/**", "file:/D/priv/{+path}", false},
		{"file:///D/priv/**", "FILE:///D/pub/../priv/{+path}", false},
		{"https://h.example/**", "https://H.example:443/{x}", false},
		{"https://h.example/**", "https://h.example{?x}", true},
		{"https://h.example/**", "https://{host}/x", true},
		{"file:///D/priv/**", "file:///D/{+path}", true},
		{"note://Alice/**", "note://Alice/{x}", false},
	} {
		v := compile(t, permitAll+`@id("b") forbid (principal, action, resource in Label::"fs/`+c.rule+`");`).Snapshot(testServers, []policy.Item{{Kind: policy.Template, Server: "fs", Name: c.template}}).View(alice)
		if visible, _ := v.Item(0); visible != c.visible {
			t.Errorf("%s under a rule against %s: visible %v", c.template, c.rule, visible)
		}
	}
}

// TestMarks: a conversation has the labels of what it may have read.
func TestMarks(t *testing.T) {
	set, err := policy.Compile(policy.Config{
		Labels:  map[string][]string{"secret": {"resource:new/file:///D/priv/**"}},
		Sources: []policy.Source{{Text: []byte(permitAll + `@id("b") forbid (principal, action == Action::"call", resource) when {context.seen.contains("secret")};`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	v := set.Snapshot(testServers, nil).View(alice)
	for _, uri := range []string{"file:///D/priv/x", "file:/D/priv/x", "file:///D/pub?/../priv/x", "file://h/D/priv/x"} {
		if _, marks := v.UnlistedDelivery(policy.Item{Kind: policy.Resource, Server: "new", Name: uri}); len(marks) != 1 {
			t.Errorf("%s marks with %q", uri, marks)
		}
	}
}

// TestForms: the conditions of all forms of a URI count together.
func TestForms(t *testing.T) {
	const spelt = "file://other.example/D/priv/x" // also file:///D/priv/x
	it := policy.Item{Kind: policy.Resource, Server: "fs", Name: spelt}
	for _, c := range []struct {
		name, rules, transport   string
		verdict                  policy.Verdict
		over, ask, would, static bool
	}{
		{"a limit", `@over("5/m") forbid (principal, action, resource in Label::"fs/file:///D/priv/**");`, "http", policy.Allow, true, false, false, false},
		{"a question", `@ask("sure?") forbid (principal, action, resource in Label::"fs/file:///D/priv/**");`, "http", policy.Ask, false, true, false, false},
		{"a shadow", `@shadow forbid (principal, action, resource in Label::"fs/file:///D/priv/**");`, "http", policy.Allow, false, false, true, true},
		{"a condition", `forbid (principal, action, resource in Label::"fs/file:///D/priv/**") when {context.front == "http"};`, "http", policy.Deny, false, false, false, true},
		{"another condition", `forbid (principal, action, resource in Label::"fs/file:///D/priv/**") when {context.front == "http"};`, "stdio", policy.Allow, false, false, false, true},
		{"Cedar, equal", `forbid (principal, action, resource == Resource::"fs/file:///D/priv/x") when {context.front == "http"};`, "http", policy.Deny, false, false, false, true},
	} {
		v := compile(t, permitAll+`@id("b") `+c.rules).Snapshot(testServers, nil).View(alice)
		visible, conditions := v.Unlisted(it)
		if !visible || conditions == nil || conditions.Static() != c.static {
			t.Errorf("%s: visible %v under %+v", c.name, visible, conditions)
			continue
		}
		request := &policy.Request{Principal: alice, Transport: c.transport}
		for _, out := range []policy.Outcome{conditions.Decide(request), v.Explain(policy.Read, it, request).Outcome} {
			if out.Verdict != c.verdict || (len(out.Over) == 1) != c.over || (len(out.Ask) == 1) != c.ask || (len(out.Would) == 1) != c.would {
				t.Errorf("%s: %+v", c.name, out)
			}
		}
	}
	v := compile(t, permitAll+`@id("b") @reason("private") forbid (principal, action, resource in Label::"fs/file:///D/priv/**");`).Snapshot(testServers, nil).View(alice)
	e := v.Explain(policy.Read, it, &policy.Request{Principal: alice})
	if e.Visible || e.Outcome.Reason != "private" || len(e.Policies) != 2 || !e.Policies[1].Holds || v.UnlistedBy(it)[0] != "b" {
		t.Errorf("%+v", e)
	}
	both := compile(t, permitAll+`@id("b") @over("5/m") forbid (principal, action, resource);`).Snapshot(testServers, nil).View(alice)
	if _, conditions := both.Unlisted(it); len(conditions.Decide(&policy.Request{}).Over) != 1 {
		t.Error("a limit of all forms counts more than once")
	}
}

// TestPlainForms: without verdict tables, forms are decided alike.
func TestPlainForms(t *testing.T) {
	for _, s := range spellings {
		set, err := policy.Compile(policy.Config{Plain: true, Sources: []policy.Source{{Text: []byte(permitAll + `@id("b") forbid (principal, action, resource in Label::"fs/` + folderOf(s.uri) + `");`)}}})
		if err != nil {
			t.Fatal(err)
		}
		visible, c := set.Snapshot(testServers, nil).View(alice).Unlisted(policy.Item{Kind: policy.Resource, Server: "fs", Name: s.spelt})
		if visible && (c == nil || c.Decide(&policy.Request{}).Verdict != policy.Deny) {
			t.Errorf("%q is read, which stands for %s", s.spelt, s.uri)
		}
	}
}

// ordinary are URIs of one form.
var ordinary = []string{
	"file:///D/pub/x.md", "file:///D/a%20b", "https://h.example/a/b?c=d&e=f", "http://localhost:3000/x", "note://a/b", "note:a/b", "ui://x", "mcpctl+view://coding/tools.ts", "urn:isbn:1",
}

func TestOrdinary(t *testing.T) {
	for _, uri := range ordinary {
		if u, ok := policy.ParseURI(uri); !ok || u.Normal != uri || u.Others != nil || u.Ambiguous {
			t.Errorf("%s is %+v", uri, u)
		}
		if n := testing.AllocsPerRun(100, func() { policy.ParseURI(uri) }); n > 0 {
			t.Errorf("%s: %v allocations", uri, n)
		}
	}
}
