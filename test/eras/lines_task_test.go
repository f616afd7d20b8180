package eras_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

func taskLines() []line {
	return []line{
		{name: "task-required", title: "A tool that runs as a task only, for a client without tasks", check: func(p *pair) {
			raw, err := p.c.use(p.ctx, "task", `{"message":"é"}`)
			if p.endpoint.modern && p.modern() {
				// Both know the extension, and the client is told what to
				// declare (SEP-2663, Capability Negotiation; the official suite
				// demands it).
				check(wantCode(raw, err, -32021))
				if !strings.Contains(err.Error(), `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`) {
					failf("nothing says what is missing: %w", err)
				}
				return
			}
			check(wantText(raw, err, "é"))
			check(wantEra(p, raw, false))
		}},
		{name: "task-extension", title: "The tasks extension", check: checkTaskExtension, impossible: func(f endpoint, _ backend) string {
			if !f.modern {
				return "The extension is one of 2026-07-28 (SEP-2663): a client of the handshake era cannot declare it. Its tools work as in task-required."
			}
			return ""
		}},
	}
}

// checkTaskExtension checks for a task of a client that declares the extension, to
// be polled to its end; a proxy may also wait for the result itself.
func checkTaskExtension(p *pair) {
	a := must(p.c.calling(p.ctx, "task", `{"message":"é"}`, ""))
	a.capabilities = tasksToo
	raw := must(p.c.roundTrip(p.ctx, a))
	failIf(str(raw, "resultType") != "task" || str(raw, "taskId") == "" || at(raw, "pollIntervalMs") == nil, "got %.300s, want a task", raw)
	get := ask{method: "tasks/get", members: `"taskId":` + string(at(raw, "taskId")), capabilities: tasksToo}
	for {
		raw = must(p.c.roundTrip(p.ctx, get))
		if status := str(raw, "status"); status == "completed" {
			break
		} else if status != "working" {
			failf("status %s: %s", status, raw)
		}
		time.Sleep(2 * time.Millisecond)
	}
	check(same(at(raw, "result", "content"), json.RawMessage(`[{"type":"text","text":"é"}]`)))
	for _, id := range []string{"nobody's", strings.ToLower(str(raw, "taskId")) + "x"} {
		bad, err := p.c.roundTrip(p.ctx, ask{method: "tasks/get", members: fmt.Sprintf(`"taskId":%q`, id), capabilities: tasksToo})
		check(wantCode(bad, err, -32602))
	}
	bad, err := p.c.roundTrip(p.ctx, ask{method: "tasks/get", members: get.members})
	check(wantCode(bad, err, -32021))
}
