package gateway

import (
	"slices"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/internal/audit/export"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

func TestStatusWords(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, got := range map[string]string{
		"0s": since(at, at.Add(-time.Hour)), "12s": since(at, at.Add(12*time.Second)), "5m10s": since(at, at.Add(310*time.Second)),
		"2h13m": since(at, at.Add(133*time.Minute)), "3d4h": since(at, at.Add(76*time.Hour)), "1m0s": since(at, at.Add(59_700*time.Millisecond)),
		"33µs": latency(0.033), "1.25ms": latency(1.25), "12.3ms": latency(12.34), "456ms": latency(456.4), "1.5s": latency(1500), "120s": latency(120_000),
		"37.6 MB": memory(37_609_472), "": memory(-1) + computing(-1), "0.5s": computing(0.5), "1m5s": computing(65),
		"not known":         offers(nil, at),
		"nothing":           offers(&proxy.CatalogStatus{Source: proxy.SourceLive}, at),
		"1 tool, 2 prompts": offers(&proxy.CatalogStatus{Tools: 1, Prompts: 2, Source: proxy.SourceLive}, at),
		"3 tools (stored 1h0m ago), a list is missing": offers(&proxy.CatalogStatus{
			Tools: 3, Source: proxy.SourceStored, Verified: at.Add(-time.Hour), Missing: map[string]string{"prompts/list": "x"},
		}, at),
		"try in 20s":    next(&proxy.BackendStatus{NextTry: at.Add(20 * time.Second), NextReap: at}, at),
		"close in 1m0s": next(&proxy.BackendStatus{NextReap: at.Add(time.Minute)}, at),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStatusPolicies: which policies count, and why others do not.
func TestStatusPolicies(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, p := range map[string]*PolicyStatus{
		"": nil,
		"3 policies, generation 0123456789ab, read 1m0s ago\n":                  {Digest: "sha256:0123456789abcdef", Policies: 3, Loaded: at.Add(-time.Minute)},
		"1 policy, generation 01, read 0s ago\n  not in force: c.yaml:1:2: x\n": {Digest: "sha256:01", Policies: 1, Loaded: at, Problem: "c.yaml:1:2: \x1b[2Jx"},
		"no policies\n  not in force: x\n":                                      {Problem: "x"},
	} {
		if got := p.policyLines(at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStatusLists: what lists cost, and which form clients get.
func TestStatusLists(t *testing.T) {
	t.Parallel()
	lists := []proxy.ListStatus{
		{All: 28700, Search: 310, Chosen: views.ListAll},
		{View: "coding", Budget: 10000, All: 28700, Search: 310, Chosen: views.ListSearch},
		{View: "x\x1b[2J", Budget: 20, All: 30, Search: 310, Chosen: views.ListAll},
	}
	const want = "tools: ≈ 28700 tokens as a list, 310 as search; clients get the list\n" +
		"view coding: ≈ 28700 tokens as a list, 310 as search; clients get search (budget 10000); 2 sessions\n" +
		"view x: ≈ 30 tokens as a list, 310 as search; clients get the list, over the budget of 20\n"
	if got := listLines(lists, map[string]int{"coding": 2}); got != want {
		t.Errorf("got %q", got)
	}
}

// TestStatusAudit: how the audit log is, and what is wrong with it.
func TestStatusAudit(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, a := range map[string]*auditing.Status{
		"":                               nil,
		"audit log: 0 records, 0.0 MB\n": {},
		"audit log: 12 records, 2.5 MB, 10 of them signed, last 1m0s ago, 2 on their way\n": {Records: 12, Bytes: 2_500_000, Signed: 10, Checkpoint: at.Add(-time.Minute), Waiting: 2},
		"audit log: 1 record, 0.0 MB, 0 of them signed\n  requests are refused: no room\n":  {Records: 1, Required: true, Problem: "no \x1b[2Jroom"},
		"audit log: 0 records, 0.0 MB\n  not recorded: 3 requests\n  requests are not recorded: x\n  not exported by this process: another one does\n  https://o has refused 1 record for good\n  https://o gets nothing, for 1m0s now: HTTP 503\n": {
			Unwritten: 3, Problem: "x", Elsewhere: "another one does", Exports: []export.Status{{Target: "https://o", Dropped: 1, Problem: "HTTP 503", Since: at.Add(-time.Minute)}, {Target: "fine"}},
		},
	} {
		if got := auditLines(a, at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStatusAccess: who may come, who has, and who was refused; nothing of it reaches the
// terminal as it is.
func TestStatusAccess(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := Visitor{ID: "proxy|al\x1b[2Jice", Requests: 2, LastSeen: at.Add(-time.Minute)}
	for want, a := range map[string]*AccessStatus{
		"":                     nil,
		"credentials: token\n": {Providers: []string{"token"}},
		"credentials: token, mtls; refused: no credential 3, unknown 1; identity headers ignored: 4\n  not in force: serve.tls: x\n": {
			Providers: []string{"token", "mtls"}, Refused: map[string]uint64{"none": 3, "unknown": 1}, IgnoredHeaders: 4, Problem: "serve.tls: x",
		},
		"credentials: proxy\nprincipals: proxy|alice, 2 requests, seen 1m0s ago\n": {Providers: []string{"proxy"}, Principals: 1, Recent: []Visitor{one}},
		"credentials: proxy\nprincipals: a, 0 requests, seen 1m0s ago; a, 0 requests, seen 1m0s ago; a, 0 requests, seen 1m0s ago; a, 0 requests, seen 1m0s ago; a, 0 requests, seen 1m0s ago; and 3 more\n": {
			Providers: []string{"proxy"}, Principals: 8, Recent: slices.Repeat([]Visitor{{ID: "a", LastSeen: at.Add(-time.Minute)}}, 8),
		},
	} {
		if got := a.accessLines(at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	clients := proxy.ClientsStatus{Sessions: 1, Recent: []proxy.ClientStatus{{Transport: "http", Name: "x", Version: "1", Principal: "token|alice", LastSeen: at}}}
	if got, want := clientsLine(clients, at), "clients: x 1 of token|alice over http, seen 0s ago\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
