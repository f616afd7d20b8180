package pages

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// approval is the page on which a person is asked about a call of their own. It shows
// all that is sent: nothing of it is markup, and nothing is hidden.
func (v *visit) approval() {
	sealed := v.r.URL.Query()["s"]
	if len(sealed) != 1 || v.o.Consent == nil {
		v.expiredPage()
		return
	}
	a, err := link.OpenApproval(v.o.Ring, sealed[0])
	switch {
	case err != nil:
		v.expiredPage()
		return
	case a.Principal != v.s.principal.ID:
		v.o.Log.Warn("a question for another person was followed", "principal", v.s.principal.ID, "for", a.Principal)
		v.fail(http.StatusForbidden, "This link is for somebody else", "You can allow only calls of your own. Do not continue with links that others send you.")
		return
	}
	call, ok := v.o.Consent.Find(time.Now(), a.ID, v.s.principal.ID)
	if !ok {
		v.expiredPage()
		return
	}
	policies := strings.Join(call.IDs, ", ")
	if policies == "" {
		policies = "not told"
	}
	v.show(http.StatusOK, page{title: "Allow this call?", content: fill(template("page_approve.html"),
		"question", call.Text, "name", call.Name, "server", plain.EscapeInvisible(call.Server), "tool", plain.EscapeInvisible(call.Item), "policies", policies, "arguments", readable(call.Arguments),
		"minutes", plain.Count(int(gate.TTL/time.Minute), "minute"), "action", v.prefix(link.ApprovePath), "token", v.formToken(link.ApprovePath, v.s.secret, a.ID))})
}

// answer takes the person's answer. id is that of the call.
func (v *visit) answer(id string) {
	all := v.r.PostForm["answer"]
	if len(all) != 1 || all[0] != "yes" && all[0] != "no" {
		v.fail(http.StatusBadRequest, "This form cannot be read", "Go back and send it again.")
		return
	}
	if v.o.Consent == nil {
		v.expiredPage()
		return
	}
	yes, now := all[0] == "yes", time.Now()
	call, ok := v.o.Consent.Find(now, id, v.s.principal.ID)
	if !ok || !v.o.Consent.Answer(now, id, v.s.principal.ID, yes) {
		v.expiredPage()
		return
	}
	v.o.Log.Info("a person was asked about a call", "principal", v.s.principal.ID, "server", call.Server, "tool", call.Item, "allowed", yes)
	if v.o.Answered != nil {
		v.o.Answered(v.s.principal, call, yes)
	}
	if !yes {
		v.write(http.StatusOK, failed, "The call is not allowed", "You can close this page.")
		return
	}
	v.write(http.StatusOK, done, "The call is allowed", "Have your program call again within "+plain.Count(int(gate.TTL/time.Minute), "minute")+": the same call passes once.")
}

// expiredPage says that there is nothing to answer.
func (v *visit) expiredPage() {
	v.fail(http.StatusBadRequest, "This question is not open any more", "It was answered, or nobody has answered in time. Call again to be asked again.")
}

// readable returns arguments for a person to read: with a member on each line, and what is
// hidden spelled out.
func readable(arguments []byte) markup {
	var b bytes.Buffer
	if len(arguments) == 0 {
		return "no arguments"
	}
	if json.Indent(&b, arguments, "", "  ") != nil {
		b.Reset()
		b.Write(arguments)
	}
	return markup(html.EscapeString(plain.EscapeInvisible(b.String())))
}
