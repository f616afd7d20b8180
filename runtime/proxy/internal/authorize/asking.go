package authorize

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// maxShown bounds what a person is shown of the arguments of a call, in bytes.
const maxShown = 2000

// Person puts a question of the policies to the client, as a form, and returns what comes of
// it. The error is that the request has ended.
func Person(ctx context.Context, from *upstream.Caller, q *gate.Question) (gate.Answer, error) {
	form := revision.Question{From: revision.Latest, To: from.Version, Method: revision.MethodElicitationCreate, Capabilities: from.Capabilities}
	params, undeclared := form.Params(formOf(q))
	if undeclared != nil || from.Ask == nil {
		return gate.Unasked, nil
	}
	began, asking := time.Now(), ctx
	if !from.Modern() { // one that comes back with its answer learns then that it is late
		limited, cancel := context.WithTimeout(ctx, gate.QuestionTime)
		defer cancel()
		asking = limited
	}
	answer, err := from.Ask(asking, form.Method, params)
	switch {
	case ctx.Err() != nil:
		return gate.No, deadline.Cause(ctx)
	case time.Since(began) >= gate.QuestionTime:
		return gate.TimedOut, nil
	case err != nil:
		return gate.Unasked, nil // the client cannot do what it has declared
	}
	if answer, err = form.Reply(answer); err == nil && saysYes(answer) {
		return gate.Yes, nil
	}
	return gate.No, nil
}

// formOf returns the params of the elicitation that asks a question. To accept the form is
// not enough: programs may do that by themselves.
func formOf(q *gate.Question) json.RawMessage {
	message := q.Text
	if len(q.Arguments) > 0 {
		message += "\n\nIt is called with " + shown(q.Arguments)
	}
	if q.PerFlow {
		message += "\n\nA yes counts for the rest of this conversation."
	}
	return append(rawjson.Quote([]byte(`{"mode":"form","message":`), message),
		`,"requestedSchema":{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow it"}},"required":["allow"]}}`...)
}

// shown returns arguments for a person to read: on a line, with nothing hidden.
func shown(arguments []byte) string {
	text := plain.EscapeInvisible(string(rawjson.OneLine(bytes.Clone(arguments))))
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + " … and " + plain.Count(len(text)-maxShown, "more byte")
	}
	return text
}

// saysYes reports whether an answer to formOf is a yes.
func saysYes(answer []byte) bool {
	var at [2]rawjson.Span
	if rawjson.Fields(answer, at[:], "action", "content") != nil || string(at[0].Of(answer)) != `"accept"` || !rawjson.IsObject(at[1].Of(answer)) {
		return false
	}
	content := at[1].Of(answer)
	allow, err := rawjson.Field(content, "allow")
	return err == nil && string(allow.Of(content)) == "true"
}
