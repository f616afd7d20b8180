package policies

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/test/require"
)

var recordedItems = []policy.Item{
	{Kind: policy.Tool, Server: "gh", Name: "merge", Definition: []byte(`{"name":"merge","inputSchema":{"type":"object","properties":{"base":{"type":"string"},"n":{"type":"integer"}}}}`)},
	{Kind: policy.Tool, Server: "mail", Name: "send", Definition: []byte(`{"name":"send","inputSchema":{"type":"object","properties":{"base":{"type":"string"}}}}`)},
	{Kind: policy.Prompt, Server: "gh", Name: "review", Definition: []byte(`{"name":"review"}`)},
}

// loadedOf returns policies in Cedar over recordedItems.
func loadedOf(t *testing.T, groups map[string][]string, texts ...string) *loaded {
	t.Helper()
	l := &loaded{Policies: &settings.Policies{}, servers: []policy.Server{{Name: "gh"}, {Name: "mail"}}, items: recordedItems, configured: []string{"gh", "mail"}, listed: map[string]bool{"gh": true, "mail": true}}
	l.Config = policy.Config{Groups: groups, Labels: map[string][]string{"outbound": {"mail"}}}
	for i, text := range texts {
		l.Config.Sources = append(l.Config.Sources, policy.Source{Name: fmt.Sprintf("%d.cedar", i), Text: []byte(text)})
	}
	var err error
	l.set, err = policy.Compile(l.Config)
	require.NoError(t, err)
	l.world = l.set.Snapshot(l.servers, l.items)
	return l
}

// parts are policies, of which a world has some.
var parts = []string{
	`permit(principal, action, resource);`,
	`permit(principal in Group::"eng", action, resource);`,
	`permit(principal, action, resource) when { context has args && context.args has base && context.args.base == "main" };`,
	`@scope("gh.write") permit(principal, action == Action::"call", resource);`,
	`forbid(principal, action == Action::"call", resource) when { context.args has base && context.args.base == "main" };`,
	`forbid(principal, action == Action::"call", resource) unless { context.args has base };`,
	`forbid(principal, action == Action::"call", resource) when { context.seen.contains("private") && context.args has n && context.args.n > 5 };`,
	`forbid(principal, action == Action::"call", resource in Label::"outbound") when { context.seen.contains("private") };`,
	`@ask("Send {tool}?") forbid(principal, action, resource in Label::"outbound") when { context.seen.contains("private") };`,
	`@ask("Merge?") forbid(principal, action == Action::"call", resource) when { context.args has base };`,
	`@over("1/h") forbid(principal, action, resource);`,
	`@shadow forbid(principal, action, resource) when { context.args has base };`,
	`forbid(principal, action, resource) when { context.task };`,
	`forbid(principal, action, resource) when { context.now < datetime("2001-01-01") };`,
	`forbid(principal, action == Action::"call", resource) when { resource.server.name == "mail" && (context.args has base || context.seen.contains("x")) };`,
}

// TestUnknownIsNeverWrong: what a replay says without the arguments is what is decided with
// them, or unknown.
func TestUnknownIsNeverWrong(t *testing.T) {
	t.Parallel()
	verdicts, seen := []string{allow, ask, deny, unknown}, map[string]int{}
	missing := func() bool {
		return slices.ContainsFunc(verdicts, func(v string) bool { return seen[v] < 3 })
	}
	for n := 0; n < 1000 || missing() && n < 50_000; n++ { // 8 of 1000 are asked, on average
		var texts []string
		for i, text := range parts {
			if i == 0 || rand.IntN(5) == 0 {
				texts = append(texts, fmt.Sprintf(`@id("p%d") `, i)+text)
			}
		}
		l := loadedOf(t, nil, texts...)
		r := audit.Record{Kind: audit.KindCall, Time: time.Now(), Principal: audit.Principal{ID: "idp|alice", Via: "jwt"}, Target: audit.Target{Server: "gh", Item: "merge"}}
		pick := func(n int) bool { return rand.IntN(n) == 0 }
		if pick(2) {
			r.Target = audit.Target{Server: "mail", Item: "send"}
		}
		if pick(6) {
			r.Kind, r.Target = audit.KindGet, audit.Target{Server: "gh", Item: "review"}
		}
		if pick(2) {
			r.Principal.Groups = []string{"eng"}
		}
		if pick(2) {
			r.Decision.Seen = []string{"private"}
		}
		if pick(3) {
			r.Decision.Scopes = []string{"gh.write"}
		}
		arguments := []string{`{}`, `{"base":"main"}`, `{"base":"dev"}`, `{"n":7}`, `{"n":3,"base":"main"}`}[rand.IntN(5)]
		req, ok := l.again(&r, nil)
		if !ok {
			t.Fatal("not decided again")
		}
		got := l.decideRecorded(req, &r)
		req.arguments = []byte(arguments)
		want := l.decide(req)
		// A task is in no record, so this one is none.
		if got.verdict != unknown && got.verdict != want.verdict && (got.verdict != hidden || want.verdict != deny) && (got.verdict != deny || want.verdict != hidden) {
			t.Fatalf("%+v %s of\\n%s: replayed %s, decided %s by %v", r, arguments, strings.Join(texts, "\n"), got.verdict, want.verdict, want.policies)
		}
		seen[got.verdict]++
	}
	if missing() {
		t.Errorf("not all verdicts came: %v", seen)
	}
}

// TestAgain: a record is decided as it was, and otherwise where policies have changed.
func TestAgain(t *testing.T) {
	t.Parallel()
	groups := map[string][]string{"crew": {"alice@example.com"}, "local-only": {"local"}}
	l := loadedOf(t, groups,
		`@id("crew") permit(principal in Group::"crew", action, resource);`,
		`@id("eng") permit(principal in Group::"idp:eng", action, resource);`,
		`@id("scoped") @scope("gh.write") permit(principal == User::"idp|bob", action, resource);`,
		`@id("me") permit(principal in Group::"local", action, resource);`,
		`@id("main") forbid(principal, action == Action::"call", resource == Tool::"gh/merge") when { context.args has base && context.args.base == "main" };`,
		`@id("ask") @ask("Send?") forbid(principal, action, resource in Label::"outbound") when { context.seen.contains("private") };`,
		`@id("often") @over("1/h") forbid(principal in Group::"local", action, resource);`,
	)
	call := func(who, name, via, item string) audit.Record {
		server, tool, _ := strings.Cut(item, "/")
		return audit.Record{Kind: audit.KindCall, Time: time.Now(), Principal: audit.Principal{ID: who, Name: name, Via: via}, Target: audit.Target{Server: server, Item: tool}}
	}
	with := func(r audit.Record, change func(*audit.Record)) audit.Record {
		change(&r)
		return r
	}
	alice := call("idp|1", "alice@example.com", "jwt", "mail/send")
	bob := call("idp|bob", "bob", "jwt", "mail/send")
	local := call("local", "", "", "mail/send")
	said := func(verdict string, by ...string) audit.Decision { return audit.Decision{Verdict: verdict, By: by} }
	for name, tt := range map[string]struct {
		r      audit.Record
		args   string
		want   string
		agrees bool
	}{
		"allowed by the address": {with(alice, func(r *audit.Record) { r.Decision = said("allow", "crew") }), "", allow, true},
		"a group of the issuer": {with(bob, func(r *audit.Record) {
			r.Principal.ID, r.Principal.Groups, r.Decision = "idp|2", []string{"idp:eng"}, said("allow", "eng")
		}), "", allow, true},
		"without that group":      {with(bob, func(r *audit.Record) { r.Principal.ID, r.Decision = "idp|2", said("allow", "eng") }), "", hidden, false},
		"denied as before":        {with(bob, func(r *audit.Record) { r.Principal.ID, r.Decision = "idp|2", said("deny") }), "", hidden, true},
		"has the scope":           {with(bob, func(r *audit.Record) { r.Decision = said("allow", "scoped") }), "", allow, true},
		"lacks the scope":         {with(bob, func(r *audit.Record) { r.Decision = said("deny", "scoped"); r.Decision.Scopes = []string{"gh.write"} }), "", deny, true},
		"arguments are not known": {with(alice, func(r *audit.Record) { r.Target, r.Decision = audit.Target{Server: "gh", Item: "merge"}, said("allow") }), "", unknown, false},
		"arguments that deny": {with(alice, func(r *audit.Record) {
			r.Target, r.Decision = audit.Target{Server: "gh", Item: "merge"}, said("deny", "main")
		}), `{"base":"main"}`, deny, true},
		"arguments that do not": {with(alice, func(r *audit.Record) {
			r.Target, r.Decision = audit.Target{Server: "gh", Item: "merge"}, said("allow", "crew")
		}), `{"base":"dev"}`, allow, true},
		"no was said": {with(alice, func(r *audit.Record) { r.Decision = said("deny", "ask"); r.Decision.Seen = []string{"private"} }), "", ask, true},
		"yes was said": {with(alice, func(r *audit.Record) {
			r.Decision = said("allow", "crew", "ask")
			r.Decision.Seen = []string{"private"}
		}), "", ask, true},
		"is asked now":                 {with(alice, func(r *audit.Record) { r.Decision = said("allow", "crew"); r.Decision.Seen = []string{"private"} }), "", ask, false},
		"over a limit":                 {with(local, func(r *audit.Record) { r.Decision = said("limit", "often") }), "", limited, true},
		"over a limit that is no more": {with(alice, func(r *audit.Record) { r.Decision = said("limit", "often") }), "", allow, false},
		"nobody was asked":             {local, "", allow, true},
	} {
		t.Run(name, func(t *testing.T) {
			var arguments []byte
			if tt.args != "" {
				arguments = []byte(tt.args)
			}
			req, ok := l.again(&tt.r, arguments)
			if !ok {
				t.Fatal("not decided again")
			}
			d := l.decideRecorded(req, &tt.r)
			if agrees := l.agrees(&d, &tt.r); d.verdict != tt.want || agrees != tt.agrees {
				t.Errorf("got %s, %v, want %s, %v", d.verdict, agrees, tt.want, tt.agrees)
			}
		})
	}
	for _, kind := range []audit.Kind{audit.KindStart, audit.KindDone, audit.KindAuth, audit.KindList} {
		if _, ok := l.again(&audit.Record{Kind: kind, Target: audit.Target{Server: "gh"}}, nil); ok {
			t.Errorf("%s is decided again", kind)
		}
	}
	if _, ok := l.again(&audit.Record{Kind: audit.KindCall, Decision: audit.Decision{Verdict: "deny", By: []string{"mcpctl.lock"}}, Target: audit.Target{Server: "gh"}}, nil); ok {
		t.Error("what no policy of the configuration has refused is decided again")
	}
}
