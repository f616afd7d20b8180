package rules_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/test/require"
)

var (
	cases = flag.Int("policy-cases", 10_000, "how many requests TestTwins decides")
	seed  = flag.Uint64("policy-seed", 2026, "of TestTwins")
)

// The world of the tests below.
var (
	servers = []policy.Server{{Name: "gh", Transport: "http", Trusted: true, Labels: []string{"private"}}, {Name: "fs", Transport: "stdio"}}
	items   = []policy.Item{
		item(policy.Tool, "gh", "get_a", `{"annotations":{"readOnlyHint":true}}`),
		item(policy.Tool, "gh", "get_b", `{}`),
		item(policy.Tool, "gh", "merge", `{"inputSchema":{"properties":{"n":{"type":"integer"},"f":{"type":"number"},"url":{"type":"string"},"path":{"type":"string"}}}}`),
		item(policy.Tool, "fs", "read_x", `{"annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"path":{"type":"string"},"n":{"type":"integer"}}}}`),
		item(policy.Tool, "fs", "write_x", `{"inputSchema":{"properties":{"path":{"type":"string"}}}}`),
		item(policy.Prompt, "gh", "get_p", `{}`),
		item(policy.Resource, "fs", "file:///data/a.txt", `{}`),
	}
	principals = []*access.Principal{
		nil,
		{ID: "token|ci", Provider: "token", Groups: []string{"ci"}},
		{ID: "https://idp.example|8f3a", Provider: "jwt", Email: "alice@example.com", Groups: []string{"idp:eng"}, Scopes: []string{"gh.write"}},
		{ID: "https://idp.example|7777", Provider: "jwt"},
		{ID: "local|root", Provider: access.Local},
	}
)

func item(kind policy.Kind, server, name, definition string) policy.Item {
	return policy.Item{Kind: kind, Server: server, Name: name, Definition: []byte(definition)}
}

// world returns the policies of a section, bound to the items.
func world(t *testing.T, section string, more ...policy.Source) *policy.Snapshot {
	t.Helper()
	s, err := parse(section)
	require.NoError(t, err)
	c := s.Config(true)
	c.Sources = append(c.Sources, more...)
	set, err := policy.Compile(c)
	if err != nil {
		t.Fatalf("%s: %v", section, err)
	}
	return set.Snapshot(servers, items)
}

// actionOf is what is done with an item.
func actionOf(it policy.Item) policy.Action {
	return [...]policy.Action{policy.Tool: policy.Call, policy.Prompt: policy.Get, policy.Resource: policy.Read}[it.Kind]
}

// verdict is what a world says of a request: hidden, deny, ask or allow, and whether limits
// count.
func verdict(w *policy.Snapshot, i int, r *policy.Request) string {
	visible, c := w.View(r.Principal).Item(i)
	out := policy.Outcome{Verdict: policy.Allow}
	if c != nil {
		out = c.Decide(r)
	}
	return shown(visible, &out)
}

// explained is verdict as Explain has it.
func explained(w *policy.Snapshot, i int, r *policy.Request) string {
	e := w.View(r.Principal).Explain(actionOf(items[i]), items[i], r)
	return shown(e.Visible, &e.Outcome)
}

func shown(visible bool, out *policy.Outcome) string {
	if !visible {
		return "hidden"
	}
	text := [...]string{policy.Deny: "deny", policy.Allow: "allow", policy.Ask: "ask"}[out.Verdict]
	if len(out.Over) > 0 {
		text += " over"
	}
	if len(out.Scopes) > 0 {
		text += " with " + strings.Join(out.Scopes, " ")
	}
	return text
}

// TestGroupNames: a group that is called as somebody is not that person.
func TestGroupNames(t *testing.T) {
	w := world(t, `{rules: [{allow: ["token|ci", alice@example.com, local], to: gh}]}`)
	for _, group := range []string{"token|ci", "alice@example.com", "local"} {
		who := &access.Principal{ID: "proxy|mallory", Provider: "proxy", Groups: []string{group}}
		if got := verdict(w, 0, &policy.Request{Principal: who}); got != "hidden" {
			t.Errorf("in a group named %s, mallory is %s", group, got)
		}
	}
	ci := &policy.Request{Principal: principals[1]}
	if got := verdict(w, 0, ci); got != "allow" {
		t.Errorf("ci is %s", got)
	}
}

// words are what rules name, and who and what that is, by hand.
var (
	whoWords = map[string][]string{
		"*":                        {"local", "token|ci", "https://idp.example|8f3a", "https://idp.example|7777", "local|root"},
		"team":                     {"token|ci", "https://idp.example|8f3a"},
		"ci":                       {"token|ci"},
		"local":                    {"local", "local|root"},
		"token|ci":                 {"token|ci"},
		"alice@example.com":        {"https://idp.example|8f3a"},
		"idp:eng":                  {"https://idp.example|8f3a"},
		"https://idp.example|7777": {"https://idp.example|7777"},
		"nobody":                   {},
	}
	toWords = map[string][]string{
		"*":                              {"Tool gh/get_a", "Tool gh/get_b", "Tool gh/merge", "Tool fs/read_x", "Tool fs/write_x", "Prompt gh/get_p", "Resource fs/file:///data/a.txt"},
		"gh":                             {"Tool gh/get_a", "Tool gh/get_b", "Tool gh/merge", "Prompt gh/get_p"},
		"fs":                             {"Tool fs/read_x", "Tool fs/write_x", "Resource fs/file:///data/a.txt"},
		"gh/get_*":                       {"Tool gh/get_a", "Tool gh/get_b", "Prompt gh/get_p"},
		"tool:gh/get_*":                  {"Tool gh/get_a", "Tool gh/get_b"},
		"prompt:gh/*":                    {"Prompt gh/get_p"},
		"gh/merge":                       {"Tool gh/merge"},
		"fs/*_x":                         {"Tool fs/read_x", "Tool fs/write_x"},
		"resource:fs/file:///data/**":    {"Resource fs/file:///data/a.txt"},
		"resource:fs/file:///data/a.txt": {"Resource fs/file:///data/a.txt"},
		"resource:fs/FILE:/data/./a.txt": {"Resource fs/file:///data/a.txt"},
		"label:private":                  {"Tool gh/get_a", "Tool gh/get_b", "Tool gh/merge", "Prompt gh/get_p"},
		"writing":                        {"Tool gh/merge", "Tool fs/write_x"},
		"none/x":                         {},
	}
	whenWords = map[string]string{
		"args.n: {lt: 5}":                              `context.args has n && !(context.args.n >= 5)`,
		"args.n: {ge: -1}":                             `context.args has n && !(-1 > context.args.n)`,
		"args.n: {in: [1, 2]}":                         `context.args has n && (context.args.n == 1 || context.args.n == 2)`,
		"args.f: {gt: 0.5}":                            `context.args has f && decimal("0.5").lessThan(context.args.f)`,
		"args.f: {le: 0.5}":                            `context.args has f && !context.args.f.greaterThan(decimal("0.5"))`,
		"args.path: {under: /data}":                    `context.clean has path && !(context.clean.path != "/data" && !(context.clean.path like "/data/*"))`,
		"args.path: {eq: /data/x}":                     `context.args has path && "/data/x" == context.args.path`,
		`args.path: {like: "*.txt"}`:                   `context.args has path && context.args.path like "*.txt"`,
		`args.url: {host: [a.example, "*.b.example"]}`: `context.host has url && ["a.example"].contains(context.host.url) || context.host has url && context.host.url like "*.b.example"`,
	}
)

// randomRule returns a rule, and the same by hand, in Cedar of another style.
func randomRule(r *rand.Rand, n int) (rule, twin string) {
	pick := func(m map[string][]string, most int) (words, all []string) {
		for range 1 + r.IntN(most) {
			w := sortedKeys(m)[r.IntN(len(m))]
			if w == "*" {
				return []string{w}, m[w]
			}
			words, all = append(words, w), append(all, m[w]...)
		}
		return words, all
	}
	effect := []string{"allow", "allow", "allow", "deny", "ask", "limit"}[r.IntN(6)]
	who, whom := pick(whoWords, 2)
	to, what := pick(toWords, 3)
	members := []string{effect + `: ["` + strings.Join(who, `", "`) + `"]`, `to: ["` + strings.Join(to, `", "`) + `"]`}
	var users, resources []string
	for _, id := range whom {
		users = append(users, fmt.Sprintf("User::%q", id))
	}
	for _, id := range what {
		kind, id, _ := strings.Cut(id, " ")
		resources = append(resources, fmt.Sprintf("%s::%q", kind, id))
	}
	conditions := []string{in("principal", users), in("resource", resources)}
	actions := `Action::"call", Action::"get", Action::"read", Action::"question", Action::"link"`
	notes := fmt.Sprintf("@id(\"twin-%d\")", n)
	switch effect {
	case "ask":
		notes += ` @ask("really?")`
	case "limit":
		notes, members = notes+` @over("5/m")`, append(members, "over: 5/m")
	case "allow":
		if r.IntN(4) == 0 {
			notes, members = notes+` @scope("gh.write")`, append(members, "scope: gh.write")
		}
	}
	if effect != "limit" && r.IntN(5) == 0 {
		members = append(members, "only: read-only")
		conditions = append(conditions, `(action != Action::"call" || resource == Tool::"gh/get_a")`)
		actions = `Action::"call", Action::"get", Action::"read"`
	}
	if r.IntN(3) == 0 {
		w := sortedKeys(whenWords)[r.IntN(len(whenWords))]
		members = append(members, "when: {"+w+"}")
		conditions = append(conditions, "("+whenWords[w]+")")
		actions = `Action::"call"`
	}
	if r.IntN(5) == 0 {
		members = append(members, "after: [private, web]")
		conditions = append(conditions, `context.seen.contains("web")`, `context.seen.contains("private")`)
	}
	if r.IntN(10) == 0 {
		notes, members = notes+" @shadow", append(members, "shadow: true")
	}
	cedar := map[bool]string{true: "permit", false: "forbid"}[effect == "allow"]
	return "{" + strings.Join(members, ", ") + "}", fmt.Sprintf("%s %s (principal, action, resource) when { [%s].contains(action) } when { %s };", notes, cedar, actions, strings.Join(conditions, " && "))
}

func in(what string, all []string) string {
	if len(all) == 0 {
		return what + ` == Label::"nothing"`
	}
	return "[" + strings.Join(all, ", ") + "].contains(" + what + ")"
}

func sortedKeys[V any](m map[string]V) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	for i := range all {
		for j := range i {
			if all[i] < all[j] {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
	return all
}

// TestTwins: rules decide as Cedar that was written by hand, for random rules and requests.
func TestTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(18, *seed))
	arguments := []string{
		``, `{}`, `{"n":4}`, `{"n":5,"path":"/data/x"}`, `{"n":"x"}`, `{"path":"/data/../etc"}`, `{"path":"/data"}`, `{"path":"/database"}`, `{"f":0.5}`, `{"f":0.50001}`,
		`{"url":"https://a.example/x"}`, `{"url":"https://x.b.example:8"}`, `{"url":"https://b.example"}`, `{"n":1,"n":2}`, `{"path":"/data/a.txt","n":-1,"f":1}`, `{"path":null}`,
	}
	seen := [][]string{nil, {"private"}, {"private", "web"}}
	const perWorld = 200
	tally := map[string]int{}
	for done := 0; done < *cases; done += perWorld {
		var rules, twins []string
		for n := range 1 + r.IntN(6) {
			rule, twin := randomRule(r, n)
			rules, twins = append(rules, rule), append(twins, twin)
		}
		const groups = `groups: {team: [alice@example.com, "token|ci"]}, labels: {writing: [gh/merge, fs/write_x], private: []}`
		small := world(t, "{default: deny, "+groups+", rules: [\n"+strings.Join(rules, ",\n")+"]}")
		twin := world(t, "{default: deny, "+groups+"}", policy.Source{Name: "twin.cedar", Text: []byte(strings.Join(twins, "\n"))})
		for range perWorld {
			i := r.IntN(len(items))
			q := &policy.Request{Principal: principals[r.IntN(len(principals))], Seen: seen[r.IntN(len(seen))]}
			if items[i].Kind == policy.Tool {
				q.Arguments = []byte(arguments[r.IntN(len(arguments))])
			}
			got, want := verdict(small, i, q), verdict(twin, i, q)
			tally[got]++
			if why := explained(small, i, q); why != got {
				t.Fatalf("%s %s as %s with %s after %v is %s, and explained as %s\n%s", actionOf(items[i]), items[i].Name, q.Principal.Key(), q.Arguments, q.Seen, got, why, strings.Join(rules, "\n"))
			}
			if got != want {
				t.Fatalf("%s %s/%s as %s with %s after %v: the rules say %s, the twin %s\n%s\n%s", actionOf(items[i]), items[i].Server, items[i].Name, q.Principal.Key(), q.Arguments, q.Seen, got, want, strings.Join(rules, "\n"), strings.Join(twins, "\n"))
			}
		}
	}
	for _, v := range []string{"hidden", "deny", "ask", "allow", "allow over", "deny with gh.write"} {
		if tally[v] == 0 {
			t.Errorf("no request was decided with %q: %v", v, tally)
		}
	}
}
