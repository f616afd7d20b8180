package cli

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// serverOf returns the server whose failure an error is, "" if the message names it.
func serverOf(err error, msg string, code int) string {
	var own *Error
	if !slices.Contains([]int{exitAuth, exitConnect, exitTimeout, exitProtocol}, code) || !errors.As(err, &own) {
		return ""
	}
	for word := range strings.FieldsFuncSeq(msg, func(r rune) bool { return r == ' ' || r == ',' }) {
		if strings.Trim(word, ":;()\"'") == own.Server {
			return ""
		}
	}
	return own.Server
}

// details returns errors of validation that a server sends beside its message. What a
// refusal has there is in its text.
func details(err error) []string {
	if is[*policies.Refusal](err) {
		return nil
	}
	if rpc, ok := errors.AsType[*runtime.Error](err); ok {
		return ui.Fields(rpc.Data)
	}
	return nil
}

// overHTTP returns what the answer over HTTP was that an error is of, in brackets, as far
// as its message does not say so; "" for none.
func overHTTP(err error) string {
	var parts []string
	status, challenge := answered(err)
	if name := "HTTP " + strconv.Itoa(status); status != 0 && !strings.Contains(err.Error(), name) {
		parts = append(parts, strings.TrimSpace(name+" "+http.StatusText(status)))
	}
	var body httpBodied
	if errors.As(err, &body) && isNews(body.HTTPBody(), err) {
		parts = append(parts, "answer: "+strconv.Quote(transport.OAuthText(body.HTTPBody())))
	}
	if challenge != "" && !repeats(challenge, err.Error()+strings.Join(parts, "")) {
		parts = append(parts, "WWW-Authenticate: "+challenge)
	}
	if at := authServer(err); at != "" {
		parts = append(parts, "Mcp-Auth-Server: "+at)
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// answered returns the HTTP status and the WWW-Authenticate header of the answer that an
// error is of, 0 and "" for none.
func answered(err error) (status int, challenge string) {
	var over httpStatuser
	if errors.As(err, &over) {
		status = over.HTTPStatus()
	}
	if refused, ok := errors.AsType[*runtime.AuthError](err); ok && refused.Challenge != "" {
		status, challenge = cmp.Or(status, refused.Status), refused.Challenge
	}
	return status, challenge
}

// authServer returns what Mcp-Auth-Server says in an answer that an error is of, "" for nothing:
// some servers name there whom to ask for a token.
func authServer(err error) string {
	var over ability.AuthServer
	if errors.As(err, &over) {
		return over.AuthServer()
	}
	return ""
}

// isNews reports whether an answer's text is for people and not in an error already: pages
// are not, and JSON-RPC errors are read.
func isNews(body string, err error) bool {
	return body != "" && body[0] != '<' && !is[*runtime.Error](err) && !strings.Contains(err.Error(), strconv.Quote(body)) &&
		!strings.Contains(err.Error(), transport.OAuthText(body))
}

// repeats reports whether the words of a challenge for people are in a text already.
func repeats(challenge, text string) bool {
	_, words, ok := strings.Cut(challenge, `error_description="`)
	words, _, _ = strings.Cut(words, `"`)
	return ok && strings.Contains(text, words)
}
