package eras_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

func taskLines() []line {
	return []line{
		{name: "task-required", title: "A tool that runs as a task only, for a client without tasks", check: func(p *pair) error {
			raw, err := p.c.use(p.ctx, "task", `{"message":"é"}`)
			if p.front.modern && p.modern() {
				// Both know the extension, and the client is told what to
				// declare (SEP-2663, Capability Negotiation; the official suite
				// demands it).
				if err := wantCode(raw, err, -32021); err != nil {
					return err
				}
				if !strings.Contains(err.Error(), `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`) {
					return fmt.Errorf("nothing says what is missing: %w", err)
				}
				return nil
			}
			if err := wantText(raw, err, "é"); err != nil {
				return err
			}
			return wantEra(p, raw, false)
		}},
		{name: "task-extension", title: "The tasks extension", check: checkTaskExtension, impossible: func(f front, _ backend) string {
			if !f.modern {
				return "The extension is one of 2026-07-28 (SEP-2663): a client of the handshake era cannot declare it. Its tools work as in task-required."
			}
			return ""
		}},
	}
}

// checkTaskExtension wants a task for a client that declares the extension, to
// be polled to its end; a proxy may also wait for the result itself.
func checkTaskExtension(p *pair) error {
	a, err := p.c.calling(p.ctx, "task", `{"message":"é"}`, "")
	if err != nil {
		return err
	}
	a.capabilities = tasksToo
	raw, err := p.c.plain(p.ctx, a)
	if err != nil {
		return err
	}
	if str(raw, "resultType") != "task" || str(raw, "taskId") == "" || at(raw, "pollIntervalMs") == nil {
		return fmt.Errorf("got %.300s, want a task", raw)
	}
	get := ask{method: "tasks/get", members: `"taskId":` + string(at(raw, "taskId")), capabilities: tasksToo}
	for {
		raw, err = p.c.plain(p.ctx, get)
		if err != nil {
			return err
		}
		if status := str(raw, "status"); status == "completed" {
			break
		} else if status != "working" {
			return fmt.Errorf("status %s: %s", status, raw)
		}
		time.Sleep(2 * time.Millisecond)
	}
	if err := same(at(raw, "result", "content"), json.RawMessage(`[{"type":"text","text":"é"}]`)); err != nil {
		return err
	}
	for _, id := range []string{"nobody's", strings.ToLower(str(raw, "taskId")) + "x"} {
		bad, err := p.c.plain(p.ctx, ask{method: "tasks/get", members: fmt.Sprintf(`"taskId":%q`, id), capabilities: tasksToo})
		if err := wantCode(bad, err, -32602); err != nil {
			return err
		}
	}
	bad, err := p.c.plain(p.ctx, ask{method: "tasks/get", members: get.members})
	return wantCode(bad, err, -32021)
}
