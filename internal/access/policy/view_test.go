package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
)

const permitAll = `@id("all") permit (principal, action, resource); `

// TestSame: principals that policies do not tell apart have one view.
func TestSame(t *testing.T) {
	one := &access.Principal{ID: "token|1", Name: "one", Provider: "token", Groups: []string{"x"}, Scopes: []string{"s"}, Tags: map[string][]string{"team": {"blue"}, "floor": {"2"}}}
	other := &access.Principal{ID: "token|2", Name: "two", Provider: "token", Groups: []string{"y"}, Client: "c", Tags: map[string][]string{"team": {"red"}}}
	twin := &access.Principal{ID: "token|3", Name: "one", Provider: "token", Groups: []string{"x"}, Scopes: []string{"s"}, Tags: map[string][]string{"team": {"blue"}}}
	for _, c := range []struct {
		text        string
		same, twins bool
	}{
		{permitAll, true, true},
		{`@id("a") permit (principal in Group::"x", action, resource);`, false, true},
		{`@id("a") permit (principal in Group::"z", action, resource);`, true, true},
		{`@id("a") permit (principal == User::"token|9", action, resource);`, true, true},
		{`@id("a") permit (principal == User::"token|1", action, resource);`, false, false},
		{`@id("a") permit (principal, action, resource) when {principal.name == "one"};`, false, true},
		{`@id("a") permit (principal, action, resource) when {principal.client == "c"};`, false, true},
		{`@id("a") permit (principal, action, resource) when {principal.issuer == "token"};`, true, true},
		{`@id("a") permit (principal, action, resource) when {principal.id like "token*"};`, false, false},
		{`@id("a") permit (principal, action, resource) when {principal.hasTag("team") && principal.getTag("team").contains("blue")};`, false, true},
		{`@id("a") permit (principal, action, resource) when {principal.hasTag("floor")};`, false, false},
		{`@id("a") permit (principal, action, resource) when {[principal].contains(User::"token|9")};`, false, false},
		{`@id("a") permit (principal, action, resource) when {resource.name == "one"};`, true, true},
		{`@id("a") @scope("s") permit (principal, action, resource);`, false, true},
		{`@id("a") permit (principal, action, resource) when {(if context.task then principal else User::"token|9").name == "one"};`, false, false},
	} {
		w := compile(t, c.text).Snapshot(testServers, testItems)
		if same := w.View(one) == w.View(other); same != c.same {
			t.Errorf("%s: one view for both: %v", c.text, same)
		}
		if twins := w.View(one) == w.View(twin); twins != c.twins {
			t.Errorf("%s: one view for twins: %v", c.text, twins)
		}
	}
}

func TestNoPolicies(t *testing.T) {
	var none *policy.Set
	v := none.Snapshot(testServers, testItems).View(alice)
	if visible, c := v.Item(3); !visible || c != nil {
		t.Error("nil does not allow all")
	}
	if visible, c := v.Unlisted(policy.Item{Kind: policy.Resource, Server: "fs", Name: "file:///x"}); !visible || c != nil {
		t.Error("nil does not allow what is in no list")
	}
	if c, marks := v.Delivery(0); c != nil || marks != nil {
		t.Error("nil has conditions of delivery")
	}
	if possible, c := v.On(policy.Operate, "gh"); !possible || c != nil || !v.Server("gh") || none.Concerns(policy.Server{Name: "gh"}) || none.Digest() != "" {
		t.Error("nil does not allow all of a server")
	}
	if e := v.Explain(policy.Call, testItems[0], &policy.Request{}); !e.Visible || e.Outcome.Verdict != policy.Allow {
		t.Errorf("%+v", e)
	}
	s, err := policy.Compile(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	v = s.Snapshot(testServers, testItems).View(nil)
	if got := seen(v); got != "" || v.Server("gh") || !s.Concerns(policy.Server{Name: "gh"}) {
		t.Errorf("without policies there is%s", got)
	}
}

func TestTemplates(t *testing.T) {
	for _, c := range []struct {
		name, text, template string
		visible              bool
	}{
		{"all", permitAll, "file:///{+path}", true},
		{"none", ``, "file:///{+path}", false},
		{"part of it", `@id("a") permit (principal, action, resource in Label::"fs/file:///docs/**");`, "file:///{+path}", true},
		{"one of it", `@id("a") permit (principal, action, resource == Resource::"fs/file:///docs/a");`, "file:///docs/{name}", true},
		{"another", `@id("a") permit (principal, action, resource == Resource::"fs/file:///etc/a");`, "file:///docs/{name}", false},
		{"another part", `@id("a") permit (principal, action, resource in Label::"fs/file:///docs/**");`, "file:///etc/{+path}", false},
		{"a forbidden part", permitAll + `@id("b") forbid (principal, action, resource in Label::"fs/file:///etc/**");`, "file:///{+path}", true},
		{"all of it forbidden", permitAll + `@id("b") forbid (principal, action, resource in Label::"fs/file:///etc/**");`, "file:///etc/{+path}", false},
		{"the server forbidden", permitAll + `@id("b") forbid (principal, action, resource in Server::"fs");`, "file:///etc/{+path}", false},
		{"a question", permitAll + `@id("b") @ask("sure?") forbid (principal, action, resource);`, "file:///etc/{+path}", true},
		{"its URI is not known", `@id("a") permit (principal, action, resource) when {resource.uri like "*secret*"};`, "file:///{x}", true},
		{"what its URI forbids is not known", permitAll + `@id("a") forbid (principal, action, resource) when {resource.uri like "*{*"};`, "file:///{x}", true},
		{"prompts alone", `@id("a") permit (principal, action, resource in Label::"prompt:fs/**");`, "file:///{x}", false},
	} {
		v := compile(t, c.text).Snapshot(testServers, []policy.Item{{Kind: policy.Template, Server: "fs", Name: c.template}}).View(alice)
		visible, conditions := v.Item(0)
		if visible != c.visible || conditions != nil {
			t.Errorf("%s: visible %v under %v", c.name, visible, conditions)
		}
	}
}

// TestUnclearURIs: a URI that programs read differently may be read only where it does not
// matter which it is.
func TestUnclearURIs(t *testing.T) {
	const uri = "file:///docs/..%2f..%2fetc/passwd"
	for _, c := range []struct {
		name, text string
		visible    bool
	}{
		{"all", permitAll, true},
		{"the server", `@id("a") permit (principal, action, resource in Server::"fs");`, true},
		{"a label of the server", `@id("a") permit (principal, action, resource in Label::"files");`, true},
		{"a part", `@id("a") permit (principal, action, resource in Label::"fs/file:///docs/**");`, false},
		{"a forbidden part elsewhere", permitAll + `@id("b") forbid (principal, action, resource in Label::"fs/file:///srv/**");`, false},
		{"a forbidden part of another server", permitAll + `@id("b") forbid (principal, action, resource in Label::"gh/file:///srv/**");`, true},
		{"by its URI", `@id("a") permit (principal, action, resource) when {resource.uri like "file:///docs/*"};`, false},
		{"not by its URI", permitAll + `@id("a") forbid (principal, action, resource) when {resource.uri like "file:///srv/*"};`, false},
	} {
		v := compile(t, c.text).Snapshot(testServers, nil).View(alice)
		if visible, conditions := v.Unlisted(policy.Item{Kind: policy.Resource, Server: "fs", Name: uri}); visible != c.visible || conditions != nil {
			t.Errorf("%s: visible %v under %v", c.name, visible, conditions)
		}
	}
}

// TestUnlisted: a resource in no list is decided by what it is once it is normal.
func TestUnlisted(t *testing.T) {
	v := compile(t, `@id("a") permit (principal, action, resource in Label::"fs/file:///docs/**");
@id("b") forbid (principal, action, resource == Resource::"fs/file:///docs/secret");`).Snapshot(testServers, testItems).View(alice)
	for uri, want := range map[string]bool{
		"file:///docs/x": true, "file:///docs/a/b": true, "FILE:///docs/x": true, "file:///docs/%78": true, "file:///x/../docs/y": true,
		"file:///etc/passwd": false, "file:///docs/../etc/passwd": false, "file:///docs/%2e%2e/etc/passwd": false, `file:///docs/..\etc`: false, "file:///docs/..%5cetc": false,
		"file:///docs/secret": false, "file:///docs/%73ecret": false, "file:///docs/./secret": false, "file:///docs//secret": false, "FILE:///docs/secret": false,
		"file:///Docs/x": false, "file:///docsx": false, "": false,
	} {
		if visible, _ := v.Unlisted(policy.Item{Kind: policy.Resource, Server: "fs", Name: uri}); visible != want {
			t.Errorf("%s: visible %v", uri, visible)
		}
	}
	if visible, _ := v.Unlisted(policy.Item{Kind: policy.Resource, Server: "gh", Name: "file:///docs/x"}); visible {
		t.Error("another server's resource is visible")
	}
}

func TestServers(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{``, ""},
		{permitAll, "gh fs mail new"},
		{`@id("a") permit (principal, action, resource in Server::"gh");`, "gh"},
		{`@id("a") permit (principal, action, resource == Tool::"gh/x");`, "gh"},
		{`@id("a") permit (principal, action, resource in Label::"*/get_*");`, "gh fs mail new"},
		{`@id("a") permit (principal, action, resource in Label::"mail/get_*");`, "mail"},
		{`@id("a") permit (principal, action, resource in Label::"files");`, "fs"},
		{`@id("a") permit (principal, action, resource in Label::"outbound");`, "gh mail"},
		{permitAll + `@id("b") forbid (principal, action, resource in Server::"gh");`, "fs mail new"},
		{permitAll + `@id("b") forbid (principal, action, resource in Label::"files");`, "gh mail new"},
		{permitAll + `@id("b") forbid (principal, action == Action::"call", resource);`, "gh fs mail new"},
		{permitAll + `@id("b") @ask("?") forbid (principal, action, resource);`, "gh fs mail new"},
		{permitAll + `@id("b") forbid (principal, action, resource) when {context.task};`, "gh fs mail new"},
		{permitAll + `@id("b") forbid (principal in Group::"eng", action, resource);`, ""},
		{permitAll + `@id("b") forbid (principal in Group::"ops", action, resource);`, "gh fs mail new"},
		{`@id("a") permit (principal, action in [Action::"question", Action::"link"], resource);`, ""},
		{`@id("a") permit (principal, action == Action::"call", resource) when {resource.readOnly};`, "gh fs mail new"},
		{`@id("a") permit (principal, action == Action::"call", resource) when {resource.readOnly}; @id("b") permit (principal, action in [Action::"get", Action::"read", Action::"question", Action::"link"], resource);`, "gh fs mail new"},
	} {
		v := compile(t, c.text).Snapshot(testServers, testItems).View(alice)
		var got []string
		for _, name := range []string{"gh", "fs", "mail", "new"} {
			if v.Server(name) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: visible are %v", c.text, got)
		}
	}
}

func TestQuestionsOfAllowedServers(t *testing.T) {
	w := compile(t, `@id("a") permit (principal, action == Action::"call", resource == Tool::"gh/merge") when {context.args has x};
@id("b") forbid (principal in Group::"eng", action == Action::"question", resource);`).Snapshot(testServers, testItems)
	for _, action := range []policy.Action{policy.Question, policy.Link} {
		if possible, c := w.View(bob).On(action, "gh"); !possible || c != nil {
			t.Errorf("%s of a server one of whose tools is allowed: %v %v", action, possible, c)
		}
		if possible, _ := w.View(bob).On(action, "fs"); possible {
			t.Errorf("%s of a server that is hidden", action)
		}
	}
	if possible, _ := w.View(alice).On(policy.Question, "gh"); possible {
		t.Error("a question that is forbidden")
	}
	if possible, _ := w.View(bob).On(policy.Operate, "gh"); possible {
		t.Error("who may call may operate")
	}
}

func TestOn(t *testing.T) {
	w := compile(t, `@id("a") permit (principal, action in [Action::"question", Action::"link"], resource in Server::"gh");
@id("b") forbid (principal, action == Action::"link", resource) when {context.front == "http"};
@id("c") permit (principal in Group::"eng", action == Action::"operate", resource);`).Snapshot(testServers, testItems)
	v := w.View(alice)
	for range 2 { // the second time it is remembered
		if possible, c := v.On(policy.Question, "gh"); !possible || c != nil {
			t.Errorf("question: %v %v", possible, c)
		}
		if possible, c := v.On(policy.Link, "gh"); !possible || c == nil || c.Decide(&policy.Request{Transport: "http"}).Verdict != policy.Deny || c.Decide(&policy.Request{Transport: "stdio"}).Verdict != policy.Allow {
			t.Errorf("link: %v %v", possible, c)
		}
		if possible, c := v.On(policy.Operate, "new"); !possible || c != nil {
			t.Errorf("operate: %v %v", possible, c)
		}
		for _, server := range []string{"fs", "new"} {
			if possible, _ := v.On(policy.Question, server); possible {
				t.Errorf("question of %s", server)
			}
		}
		if possible, _ := w.View(bob).On(policy.Operate, "gh"); possible {
			t.Error("bob operates")
		}
	}
}

func TestDelivery(t *testing.T) {
	w := compile(t, permitAll+`@id("b") forbid (principal, action == Action::"deliver", resource in Server::"gh") when {context.found.contains("secret")};
@id("c") @ask("sure?") forbid (principal, action == Action::"call", resource in Label::"outbound") when {context.seen.contains("private")};
@id("d") permit (principal, action == Action::"deliver", resource) when {context.found.contains("never")};`).Snapshot(testServers, testItems)
	v := w.View(alice)
	c, marks := v.Delivery(0)
	if c == nil || marks != nil || c.Decide(&policy.Request{Found: []string{"secret"}}).Verdict != policy.Deny || c.Decide(&policy.Request{}).Verdict != policy.Allow {
		t.Errorf("%v %v", c, marks)
	}
	c, marks = v.Delivery(6) // a resource of fs, which is private
	if c != nil || !slices.Equal(marks, []string{"private"}) {
		t.Errorf("%v %v", c, marks)
	}
	c, marks = v.UnlistedDelivery(policy.Item{Kind: policy.Resource, Server: "fs", Name: "file:///x"})
	if c != nil || !slices.Equal(marks, []string{"private"}) {
		t.Errorf("%v %v", c, marks)
	}
	all := compile(t, permitAll+`@id("c") forbid (principal, action == Action::"call", resource) when {context.seen.contains(context.front)};`).Snapshot(testServers, testItems)
	if _, marks = all.View(alice).Delivery(6); !slices.Equal(marks, []string{"docs", "files", "private"}) {
		t.Errorf("%v", marks)
	}
}

func TestConcerns(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{permitAll, false},
		{`@id("a") permit (principal in Group::"local", action, resource);`, false},
		{`@id("a") permit (principal in Group::"eng", action, resource);`, true},
		{`@id("a") permit (principal, action, resource in Server::"gh");`, false},
		{`@id("a") permit (principal, action == Action::"call", resource in Server::"gh");`, true},
		{`@id("a") permit (principal, action, resource in Label::"gh/*");`, true},
		{`@id("a") permit (principal, action, resource) when {context.task};`, true},
		{`@id("a") @scope("x") permit (principal, action, resource);`, true},
		{permitAll + `@id("b") forbid (principal, action, resource in Server::"gh");`, true},
		{permitAll + `@id("b") forbid (principal, action, resource in Server::"fs");`, false},
		{permitAll + `@id("b") forbid (principal, action, resource in Label::"fs/**");`, false},
		{permitAll + `@id("b") forbid (principal, action, resource in Label::"*/get_*");`, true},
		{permitAll + `@id("b") forbid (principal in Group::"eng", action, resource);`, false},
		{permitAll + `@id("b") @ask("?") forbid (principal, action, resource) when {resource.name == "x"};`, true},
		{permitAll + `@id("b") @shadow forbid (principal, action, resource);`, false},
		{permitAll + `@id("b") forbid (principal, action, resource) when {resource.name == "x" && context.args.a == 1};`, true},
		{permitAll + `@id("b") forbid (principal, action == Action::"call", resource == Tool::"gh/x");`, true},
		{permitAll + `@id("b") forbid (principal, action == Action::"call", resource == Tool::"fs/x");`, false},
		{permitAll + `@id("b") forbid (principal, action == Action::"deliver", resource) when {context.found.contains("secret")};`, true},
		{permitAll + `@id("b") forbid (principal, action == Action::"deliver", resource in Server::"fs");`, false},
		{permitAll + `@id("b") forbid (principal, action == Action::"question", resource == Server::"gh");`, true},
		{permitAll + `@id("b") forbid (principal, action == Action::"question", resource == Server::"fs");`, false},
	} {
		if got := compile(t, c.text).Concerns(policy.Server{Name: "gh"}); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

// TestErrors: what fails to be evaluated, in each place.
func TestErrors(t *testing.T) {
	const over = `context.args.amount + 9223372036854775807 > 5`
	for _, c := range []struct {
		name, text string
		want       policy.Verdict
		skipped    int
	}{
		{"a forbid", permitAll + `@id("b") forbid (principal, action == Action::"call", resource) when {` + over + `};`, policy.Deny, 1},
		{"a forbid behind an unless", permitAll + `@id("b") forbid (principal, action == Action::"call", resource) unless {` + over + `};`, policy.Deny, 1},
		{"a permit", `@id("a") permit (principal, action == Action::"call", resource) when {` + over + `};`, policy.Deny, 1},
		{"a permit of two", `@id("a") permit (principal, action == Action::"call", resource) when {` + over + `}; @id("b") permit (principal, action, resource) when {context.front == ""};`, policy.Allow, 1},
		{"a question", permitAll + `@id("b") @ask("?") forbid (principal, action == Action::"call", resource) when {` + over + `};`, policy.Ask, 1},
		{"a limit", permitAll + `@id("b") @over("1/m") forbid (principal, action == Action::"call", resource) when {` + over + `};`, policy.Allow, 1},
		{"a shadow", permitAll + `@id("b") @shadow forbid (principal, action == Action::"call", resource) when {` + over + `};`, policy.Allow, 1},
		{"what is false before", permitAll + `@id("b") forbid (principal, action == Action::"call", resource) when {context.front == "x" && ` + over + `};`, policy.Allow, 0},
	} {
		_, conditions := compile(t, c.text).Snapshot(testServers, testItems).View(alice).Item(4)
		out := conditions.Decide(&policy.Request{Arguments: []byte(`{"amount":1}`)})
		if out.Verdict != c.want || len(out.Skipped) != c.skipped {
			t.Errorf("%s: %+v", c.name, out)
		}
	}
}

// TestUnreadable: an argument that cannot be read keeps a call from passing where a policy
// that counts reads it, and nowhere else.
func TestUnreadable(t *testing.T) {
	const reads = ` (principal, action == Action::"call", resource) when {context.args has amount && context.args.amount > 500};`
	for _, c := range []struct {
		name, text string
		want       policy.Verdict
	}{
		{"a forbid", permitAll + `@id("b") forbid` + reads, policy.Deny},
		{"a question", permitAll + `@id("b") @ask("?") forbid` + reads, policy.Deny},
		{"a permit", `@id("b") permit` + reads, policy.Deny},
		{"a permit beside one of its kind", `@id("b") permit` + reads + `@id("c") permit (principal, action, resource) when {!context.task};`, policy.Deny},
		{"a shadow", permitAll + `@id("b") @shadow forbid` + reads, policy.Allow},
		{"another argument", permitAll + `@id("b") forbid (principal, action == Action::"call", resource) when {context.args has to && context.args.to == "x"};`, policy.Allow},
	} {
		_, conditions := compile(t, c.text).Snapshot(testServers, testItems).View(alice).Item(4)
		for _, arguments := range []string{`{"amount":1e30}`, `{"amount":1,"amount":2}`, `{"Amount":1}`, `{"amount":"1"}`, `{"amount":0.5}`} {
			out := conditions.Decide(&policy.Request{Arguments: []byte(arguments)})
			if out.Verdict != c.want || out.Verdict == policy.Deny && out.Reason != "argument /amount cannot be checked" {
				t.Errorf("%s, %s: %+v", c.name, arguments, out)
			}
		}
	}
}

// TestPointless: a permit that changes nothing is not evaluated.
func TestPointless(t *testing.T) {
	_, c := compile(t, permitAll+`@id("b") permit (principal, action == Action::"call", resource) when {context.args.amount > 500};`).Snapshot(testServers, testItems).View(alice).Item(4)
	if c != nil {
		t.Errorf("%+v", c)
	}
}

func TestScopes(t *testing.T) {
	s := compile(t, `@id("a") @scope("gh.read gh.write") permit (principal, action, resource in Server::"gh");
@id("b") @scope("x y z") permit (principal, action, resource in Server::"gh");
@id("c") forbid (principal, action == Action::"call", resource) when {context.task};`)
	visible, c := s.Snapshot(testServers, testItems).View(alice).Item(4)
	if !visible || c == nil || !c.Static() {
		t.Fatal("it is hidden")
	}
	out := c.Decide(&policy.Request{Principal: alice})
	if out.Verdict != policy.Deny || strings.Join(out.Scopes, " ") != "gh.read gh.write" || out.By[0].ID != "a" {
		t.Errorf("%+v", out)
	}
	// Scopes do not help against a forbid.
	if out = c.Decide(&policy.Request{Principal: alice, Task: true}); out.Scopes != nil || out.By[0].ID != "c" {
		t.Errorf("%+v", out)
	}
	with := *alice
	with.Scopes = []string{"gh.read", "gh.write"}
	_, c = s.Snapshot(testServers, testItems).View(&with).Item(4)
	if out = c.Decide(&policy.Request{Principal: &with}); out.Verdict != policy.Allow {
		t.Errorf("%+v", out)
	}
}

// TestMany: many principals at once, more views than are remembered, and one view for each
// that is alike.
func TestMany(t *testing.T) {
	var text strings.Builder
	for i := range 1010 {
		fmt.Fprintf(&text, "@id(\"p%d\") permit (principal in Group::\"g%d\", action == Action::\"call\", resource == Tool::\"gh/pay\");\n", i, i)
	}
	w := compile(t, text.String()).Snapshot(testServers, testItems)
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 252 {
				p := &access.Principal{ID: fmt.Sprintf("token|%d-%d", k, i), Groups: []string{fmt.Sprintf("g%d", 252*k+i)}}
				v := w.View(p)
				if got := seen(v); got != " gh/pay" || w.View(p) != v && i == 0 {
					t.Errorf("visible are%s", got)
				}
			}
		})
	}
	wg.Wait()
	if n, bytes := w.Remembered(); n != 1000 || bytes <= 0 {
		t.Errorf("%d views are remembered, %d bytes", n, bytes)
	}
	once := make(map[*policy.View]bool)
	var mu sync.Mutex
	for i := range 16 {
		wg.Go(func() {
			v := w.View(&access.Principal{ID: fmt.Sprintf("token|x%d", i), Groups: []string{"g7"}})
			mu.Lock()
			once[v] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(once) != 1 {
		t.Errorf("%d views for one identity", len(once))
	}
}
