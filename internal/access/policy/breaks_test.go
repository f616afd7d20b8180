package policy_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/breaks"
)

const module = "../../.."

// mistakes are ways to decide wrongly, and the tests that notice them.
var mistakes = func() *breaks.Suite {
	s := &breaks.Suite{Module: module, Row: func(int, []string, map[string]int) string { return "" }}
	for _, m := range []struct {
		name, decl, from, to string
		red                  []string
	}{
		{"a forbid that fails is skipped, as cedar does", "(*evaluation).satisfied", `holds = !t.rule.Permit`, `holds = false`, []string{"TestErrors", "TestDecide/a forbid that fails", "TestRandom"}},
		{"a permit that fails counts", "(*evaluation).satisfied", `holds = !t.rule.Permit`, `holds = true`, []string{"TestErrors", "TestRandom"}},
		{"a forbid that always fails is skipped", "(*decision).add", `case t.rule.Permit && (t.failed ||`, `case t.failed || t.rule.Permit && (t.failed ||`, []string{"TestVisible/a forbid that fails hides", "TestRandom"}},
		{"conditions are evaluated apart", "joined", `out.Conditions = []ast.ConditionType{{Condition: ast.ConditionWhen, Body: all.AsIsNode()}}`, `_ = all`, []string{"TestRandom"}},
		{"a shadow counts", "(*decision).add", `case t.rule.Shadow:`, `case t.rule == nil:`, []string{"TestVisible/a shadow hides nothing", "TestErrors", "TestRandom"}},
		{"a question is a refusal", "(*Conditions).Decide", `case p.Question != "":`, `case p.Question == "?":`, []string{"TestDecide/a question", "TestRandom"}},
		{"a limit is passed over", "(*Conditions).Decide", `out.Over = append(out.Over, p)`, `_ = p`, []string{"TestRandom"}},
		{"a condition hides", "(*decision).settle", `return t.always && t.rule.plainly()`, `return t.rule.plainly()`, []string{"TestRandom", "TestOn"}},
		{"a question hides", "(*rule).plainly", `r.Limit == nil && r.Question == ""`, `true`, []string{"TestVisible/a question hides nothing", "TestRandom"}},
		{"deny does not win over a permit of all", "(*decision).settle", `d.visible = d.visible && !refused`, `d.visible = d.visible && (!refused || d.permitted)`, []string{"TestVisible/a forbid"}},
		{"scopes are not looked at", "(*View).lacks", `!slices.Contains(v.scopes, s)`, `v.scopes == nil && s == ""`, []string{"TestScopes", "TestRandom"}},
		{"views do not know scopes", "(*Set).identity", `if s.scopes[scope] {`, `if scope == "" {`, []string{"TestSame", "TestRandom"}},
		{"views do not know tags", "(*Set).identity", `if r.whole || r.tags[name] {`, `if name == "" {`, []string{"TestSame", "TestRandom"}},
		{"views do not know names", "(*Set).identity", `if r.whole || r.attrs[a.name] {`, `if a.name == "" {`, []string{"TestSame", "TestRandom"}},
		{"a principal used as a value has its view shared", "(*reader).variable", `r.principal.whole = true`, `_ = path`, []string{"TestSame"}},
		{"local is a name that one can have", "(*Set).MembershipOf", `if g != local &&`, `if g != "" &&`, []string{"TestVisible/local is no name that one can have", "TestRandom"}},
		{"whoever has a mail address that another claims is a member", "isMember", `p != nil && p.Email != "" && strings.EqualFold(p.Email, member)`, `p != nil && strings.EqualFold(p.Name+"@example.com", member)`, []string{"TestRandom"}},
		{"annotations of anybody count", "(*Snapshot).bare", `(e.server.Trusted || it.Pinned)`, `(e.server.Trusted || it.Definition != nil)`, []string{"TestVisible/annotations count of trusted servers", "TestRandom"}},
		{"a star matches a slash", "match", `case star >= 0 && text[from] != '/':`, `case star >= 0:`, []string{"TestVisible/a glob matches no slash", "TestRandom"}},
		{"URIs are compared as they are written", "(*Snapshot).bare", `u, ok := ParseURI(it.Name)`, `u, ok := URI{Normal: it.Name}, true`, []string{"TestUnlisted", "TestSpellings", "TestReaders"}},
		{"patterns are compared as they are written", "parseGlob", `NormalPattern(uri)`, `uri`, []string{"TestSpelledRules"}},
		{"escaped slashes are no slashes", "decoding.of", `d >= decodesSlashes`, `d > decodesBackslashes`, []string{"TestSpellings", "TestReaders"}},
		{"a query is never a part of a path", "(*URI).readAs", `u.add(p.splitAgain(whole))`, `_ = whole`, []string{"TestSpellings", "TestReaders"}},
		{"backslashes are no slashes", "forwardSlashes", "`\\`", "`\\\\`", []string{"TestAmbiguous"}},
		{"a user is a part of the host", "parts.lenient", `p.authority = p.hostPort()`, `_ = p.authority`, []string{"TestSpellings", "TestReaders"}},
		{"the host of a file counts", "(*URI).add", `if p.scheme == "file" {`, `if p.scheme == "" {`, []string{"TestSpellings", "TestReaders"}},
		{"an ambiguous URI is what it looks like", "(*View).decide", `e.read.Ambiguous && action == Read`, `e.read.Ambiguous && action == ""`, []string{"TestAmbiguous", "TestUnclearURIs"}},
		{"an ambiguous URI is always refused", "(*View).differing", `if might && (`, `if (might || l != nil) && (`, []string{"TestAmbiguous"}},
		{"what is allowed in one form is allowed", "(*entry).readAs", `!u.Ambiguous || uri == e.Name`, `!u.Ambiguous || uri != ""`, []string{"TestAllowed", "TestReaders"}},
		{"a limit of another form is passed over", "(*Conditions).strictest", `{&out.Over, &o.Over}, `, ``, []string{"TestForms"}},
		{"a template is hidden by a part", "(*View).vaguely", `if l.rule.Permit != (e.Kind == Template) {`, `if l.rule.Permit {`, []string{"TestTemplates"}},
		{"of a member that is there twice the last one counts", "(*call).object", `case string(name) == b.name && !at[i].Present():`, `case string(name) == b.name:`, []string{"TestExact", "TestUnreadable"}},
		{"a twin in other letters is passed over", "(*call).object", `case strings.EqualFold(string(name), b.name):`, `case string(name) == b.name:`, []string{"TestExact", "TestUnreadable"}},
		{"a deep duplicate is passed over", "(*call).record", `folded[name] ||`, ``, []string{"TestExact"}},
		{"decimals are cut", "number.scaled", `if e < 0 || e > 19 {`, `for ; e < 0; e++ { n.digits /= 10 }; if e > 19 {`, []string{"TestExact", "TestUnreadable"}},
		{"long integers wrap", "number.scaled", `if v > math.MaxUint64/10 {`, `if v == 0 {`, []string{"TestExact"}},
		{"half of a character is a string", "(*call).text", `return string(text), err == nil`, `return string(text), err == nil || len(text) > 0`, []string{"TestExact"}},
		{"a string is a number", "(*call).exact", `return types.String(text), ok && (any || s.kinds&isString != 0)`, `return types.String(text), ok`, []string{"TestExact", "TestUnreadable"}},
		{"values have any size", "(*call).text", `c.left < 0`, `c.left == 0`, []string{"TestBounds"}},
		{"values have any depth", "(*call).exact", `s.kinds&isArray == 0 || depth == MaxDepth`, `s.kinds&isArray == 0`, []string{"TestBounds"}},
		{"paths are matched as they are written", "CleanPath", `out := path.Clean(text)`, `out := text; _ = path.Clean`, []string{"TestCleanPath", "TestDecide/a path"}},
		{"escapes in paths are let through", "CleanPath", ` || hasEscape(text)`, ``, []string{"TestCleanPath"}},
		{"backslashes in paths are let through", "CleanPath", `"\\\x00"`, `"\x00"`, []string{"TestCleanPath"}},
		{"a user is a host", "HostOf", `authority = host`, `_ = host`, []string{"TestHostOf"}},
		{"an address has many spellings", "hostName", `return ipv4(labels)`, `return host, true`, []string{"TestHostOf"}},
		{"a dot at the end is another host", "hostName", `strings.TrimSuffix(host, ".")`, `host`, []string{"TestHostOf"}},
		{"what cannot be read is absent", "(*Conditions).evaluation", `return e, &Outcome{Reason: err.Error()}`, `values = args.Values{}`, []string{"TestUnreadable"}},
		{"a server is visible as soon as it is there", "(*View).Server", `if permitted && !refused {`, `if permitted || refused {`, []string{"TestServers"}},
		{"labels of conversations are forgotten", "(*reader).seen", `r.labels = append(r.labels, texts...)`, `_ = texts`, []string{"TestDelivery"}},
		{"all views are remembered", "(*Snapshot).remember", `len(w.views) > maxViews ||`, ``, []string{"TestMany"}},
	} {
		s.Breaks = append(s.Breaks, breaks.Break{Name: m.name, Below: "internal/access/policy", Edits: []breaks.Edit{{Decl: m.decl, From: m.from, To: m.to}}, Red: m.red})
	}
	s.Red = func(t *testing.T, i int, overlay string) (map[string]int, error) {
		return redTests(t, s.Breaks[i].Red, overlay), nil
	}
	s.Flags()
	return s
}()

// TestBreaks makes each mistake: make policy-breaks does that.
func TestBreaks(t *testing.T) { mistakes.Run(t) }

// redTests runs the tests that a mistake is to turn red.
func redTests(t *testing.T, names []string, overlay string) map[string]int {
	t.Helper()
	var tests []string
	for _, name := range names {
		name, _, _ = strings.Cut(name, "/")
		tests = append(tests, name)
	}
	c := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "./internal/access/policy/...", "-v", "-run", breaks.Any(tests))
	c.Dir = module
	out, err := c.CombinedOutput()
	red := breaks.Failed(out, `(\S+)`)
	if len(red) == 0 && err != nil {
		t.Logf("%s", out)
	}
	return red
}
