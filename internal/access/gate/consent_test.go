package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func call(args string) gate.ApprovalRequest {
	return gate.ApprovalRequest{Principal: "idp|alice", Name: "alice", Server: "mail", Item: "send", Arguments: []byte(args), Text: "Send it?", IDs: []string{"no-exfil"}}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	var table gate.Approvals
	r := call(`{"to":"bob"}`)
	if table.Take(noon, r) {
		t.Fatal("a call passes that nobody was asked about")
	}
	id := table.Ask(noon, r)
	if id == "" || table.Ask(noon, call(`{"to":"bob"}`)) != id || table.Take(noon, r) {
		t.Fatalf("asked as %q", id)
	}
	if got, ok := table.Find(noon, id, "idp|alice"); !ok || string(got.Arguments) != `{"to":"bob"}` || got.Item != "send" {
		t.Errorf("found %v", got)
	}
	for name, is := range map[string]bool{
		"another person looks":   func() bool { _, ok := table.Find(noon, id, "idp|bob"); return ok }(),
		"another person answers": table.Answer(noon, id, "idp|bob", true),
		"an unknown one":         table.Answer(noon, "x", "idp|alice", true),
		"is not answered":        !table.Answer(noon, id, "idp|alice", true),
		"is answered again":      table.Answer(noon, id, "idp|alice", true),
		"is found again":         func() bool { _, ok := table.Find(noon, id, "idp|alice"); return ok }(),
	} {
		if is {
			t.Error(name)
		}
	}
	others := map[string]gate.ApprovalRequest{"arguments": call(`{"to":"eve"}`), "space": call(`{"to": "bob"}`), "none": call("")}
	for name, change := range map[string]func(*gate.ApprovalRequest){
		"principal": func(r *gate.ApprovalRequest) { r.Principal = "idp|bob" }, "server": func(r *gate.ApprovalRequest) { r.Server = "mai" },
		"moved": func(r *gate.ApprovalRequest) { r.Server, r.Item = "mails", "end" }, "question": func(r *gate.ApprovalRequest) { r.Text = "Send?" },
		"policies": func(r *gate.ApprovalRequest) { r.IDs = []string{"no-exfil", "other"} },
	} {
		o := call(`{"to":"bob"}`)
		change(&o)
		others[name] = o
	}
	for name, o := range others {
		if table.Take(noon, o) {
			t.Errorf("another call passes: %s", name)
		}
	}
	if !table.Take(noon, r) || table.Take(noon, r) {
		t.Error("the call does not pass once")
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	var table gate.Approvals
	id := table.Ask(noon, call("1"))
	if table.Answer(noon.Add(gate.TTL), id, "idp|alice", true) {
		t.Error("answered too late")
	}
	id = table.Ask(noon, call("2"))
	later := noon.Add(gate.TTL - 1)
	if !table.Answer(later, id, "idp|alice", true) || table.Take(later.Add(gate.TTL), call("2")) {
		t.Error("a yes counts for longer than it is to")
	}
	id = table.Ask(noon, call("3"))
	if !table.Answer(noon, id, "idp|alice", false) || table.Take(noon, call("3")) {
		t.Error("a no is a yes")
	}
	if again := table.Ask(noon, call("3")); again == id || again == "" {
		t.Errorf("asked again as %q", again)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	var table gate.Approvals
	if table.Ask(noon, call(strings.Repeat("x", gate.MaxArguments+1))) != "" {
		t.Error("asked about arguments that are too long")
	}
	mine := 0
	for i := range 100 {
		if table.Ask(noon, call(fmt.Sprint(i))) != "" {
			mine++
		}
	}
	all := mine
	for i := range 2000 {
		r := call("")
		r.Principal = fmt.Sprint(i)
		if table.Ask(noon, r) != "" {
			all++
		}
	}
	if mine != 20 || all != 1000 {
		t.Errorf("%d of one, %d of all wait", mine, all)
	}
	if table.Ask(noon.Add(gate.TTL), call("new")) == "" {
		t.Error("what is too old is in the way")
	}
}
