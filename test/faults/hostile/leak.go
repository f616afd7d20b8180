package hostile

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Leaks are the names of faults that repeat the credentials which the server was
// given, as [Handler] takes them: WHAT@METHOD, the method whose answer it is.
func Leaks() []string {
	return []string{
		"leak-500", "leak-html", "leak-json", "leak-rpc", "leak-rpc-400", "leak-401", "leak-403", "leak-redirect", "leak-redirect-away", "leak-location",
		"leak-header", "leak-encoding", "leak-type", "leak-retry", "leak-garbage", "leak-sse", "leak-log", "leak-status", "leak-result",
	}
}

// ProgramLeaks are those that -fault takes.
func ProgramLeaks() []string {
	return []string{"leak-stderr", "leak-stderr-split", "leak-stderr-colour", "leak-exit", "leak-rpc", "leak-garbage", "leak-log", "leak-unreadable", "leak-method", "leak-result"}
}

// forms writes texts as servers do: plain, in base64, for URLs.
func forms(texts []string) string {
	var out []string
	for _, t := range texts {
		out = append(out, t, base64.StdEncoding.EncodeToString([]byte(t)), base64.RawURLEncoding.EncodeToString([]byte("x="+t)), url.QueryEscape(t))
	}
	return strings.Join(out, " ")
}

// given are the credentials of a request.
func given(r *http.Request) []string {
	var out []string
	for _, name := range []string{"Authorization", "X-Api-Key", "Cookie"} {
		for _, value := range r.Header.Values(name) {
			out = append(out, value)
			if _, rest, ok := strings.Cut(value, " "); ok {
				out = append(out, rest)
			}
		}
	}
	if user, password, ok := r.BasicAuth(); ok {
		out = append(out, user+":"+password, password)
	}
	for _, values := range r.URL.Query() {
		out = append(out, values...)
	}
	return append(out, r.URL.RawQuery, r.URL.Path)
}

// leak answers a request with what it holds. It reports false where this is not
// the time.
func (s *remote) leak(w http.ResponseWriter, r *http.Request, m *message) bool {
	what, method, _ := strings.Cut(s.fault, "@")
	if !strings.HasPrefix(what, "leak-") || method != m.Method {
		return false
	}
	all := given(r)
	text := forms(all)
	id := string(m.ID)
	rpc := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q,"data":{"request":{"headers":%q},%q:1},"more":%q}}`, id, "bad: "+text, text, text, text)
	head := w.Header()
	raw := func(status int, kind, body string) {
		head.Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may be gone
	}
	path := url.PathEscape(strings.Join(all, "/"))
	switch what {
	case "leak-500":
		raw(http.StatusInternalServerError, "text/plain", "upstream said no: "+text)
	case "leak-html":
		raw(http.StatusOK, "text/html", "<html><body>"+text+"</body></html>")
	case "leak-json":
		raw(http.StatusBadGateway, "application/json", fmt.Sprintf(`{"error":%q}`, text))
	case "leak-rpc":
		raw(http.StatusOK, "application/json", rpc)
	case "leak-rpc-400":
		raw(http.StatusBadRequest, "application/json", rpc)
	case "leak-result": // which is none
		raw(http.StatusOK, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%q}`, id, text))
	case "leak-sse":
		raw(http.StatusOK, "text/event-stream", "data: no message "+text+"\n\ndata: "+rpc+"\n\n")
	case "leak-401", "leak-403":
		head.Set("WWW-Authenticate", `Bearer realm="`+text+`", error="invalid_token"`)
		raw(map[bool]int{true: http.StatusUnauthorized, false: http.StatusForbidden}[what == "leak-401"], "text/plain", text)
	case "leak-redirect":
		head.Set("Location", "/"+path+"?"+url.QueryEscape(text))
		raw(http.StatusFound, "text/plain", text)
	case "leak-redirect-away":
		head.Set("Location", "http://"+hostOf(all)+".example.invalid/"+path)
		raw(http.StatusTemporaryRedirect, "text/plain", text)
	case "leak-location":
		head.Set("Location", "http://[::"+path+":"+strings.Join(all, ","))
		raw(http.StatusTemporaryRedirect, "text/plain", text)
	case "leak-header", "leak-status":
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return true
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		answer := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + text + "\r\n\r\n"
		if what == "leak-status" {
			answer = "HTTP/1.1 " + text + "\r\n\r\n"
		}
		_, _ = io.WriteString(c, answer)
	case "leak-encoding":
		head.Set("Content-Encoding", text)
		raw(http.StatusOK, "application/json", "??")
	case "leak-type":
		raw(http.StatusOK, "text/"+text, "??")
	case "leak-retry":
		head.Set("Retry-After", text)
		raw(http.StatusServiceUnavailable, "text/plain", "later")
	case "leak-garbage":
		raw(http.StatusOK, "application/json", "{{"+text)
	case "leak-log":
		note := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":{"text":%q}}}`, text)
		raw(http.StatusOK, "text/event-stream", "data: "+note+"\n\ndata: "+rpc+"\n\n")
	}
	return true
}

// hostOf makes a label of a host name of the first text that can be one.
func hostOf(texts []string) string {
	for _, t := range texts {
		if t != "" && !strings.ContainsAny(t, " /:=&%") {
			return t
		}
	}
	return "x"
}

// LeakVariable names the variables whose values a program repeats: those that
// begin so. Its arguments it repeats in any case.
const LeakVariable = "LEAK_"

// held are the credentials that the program was started with.
func held() []string {
	var out []string
	for _, line := range os.Environ() {
		if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, LeakVariable) {
			out = append(out, value)
		}
	}
	return append(out, os.Args[1:]...)
}

// leak does what a fault wants before the answer to a message; it reports true
// where that is the answer.
func (s *server) leak(m *message) bool {
	all := held()
	text := forms(all)
	switch {
	case s.has("leak-stderr"):
		fmt.Fprintln(s.stderr, "starting with "+text)
	case s.has("leak-stderr-split"):
		for _, one := range all {
			fmt.Fprintf(s.stderr, "wrapped: %s\n%s\n", one[:len(one)/2], one[len(one)/2:])
			for _, b := range []byte(one + "\n") {
				_, _ = s.stderr.Write([]byte{b})
			}
		}
	case s.has("leak-stderr-colour"):
		for _, one := range all {
			fmt.Fprintf(s.stderr, "\x1b[31m%s\x1b[0m%s\n", one[:len(one)/2], one[len(one)/2:])
		}
	case s.has("leak-exit"):
		fmt.Fprintln(s.stderr, "Error: refused: "+text)
		s.exit(1)
		return true
	case s.has("leak-garbage"):
		s.write("debug: " + text + "\n")
	case s.has("leak-result"): // which is none
		s.answer(m, fmt.Sprintf("%q", text))
		return true
	case s.has("leak-method"):
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`+"\n", text))
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q}`+"\n", text, text))
	case s.has("leak-unreadable"):
		s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"` + text + "\n")
		return true
	case s.has("leak-log"):
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":%q}}`+"\n", text))
	case s.has("leak-rpc"):
		raw, err := json.Marshal(text)
		if err == nil {
			s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32000,"message":` + string(raw) + `,"data":{"env":` + string(raw) + `}}}` + "\n")
		}
		return true
	}
	return false
}

// A canary begins and ends with these words, so that a part of it is found, too.
const (
	canaryBegin = "cAnaRy"
	canaryEnd   = "yRaNAc"
)

// Canary makes a secret to look for: with text between, which should hold what
// encodings change.
func Canary(text string) string { return canaryBegin + text + canaryEnd }

// Find returns what is in a text of a [Canary]: plain, for URLs, or in base64,
// each with what is around it.
func Find(text string) (found []string) {
	for _, word := range []string{canaryBegin, canaryEnd} {
		for _, form := range append(aligned(word), word) {
			for at := 0; ; {
				i := strings.Index(text[at:], form)
				if i < 0 {
					break
				}
				at += i
				found = append(found, text[max(0, at-80):min(len(text), at+len(form)+40)])
				at += len(form)
			}
		}
	}
	return found
}

// aligned returns what a word is within a text in base64: it may begin at each of
// three places of a group.
func aligned(word string) (forms []string) {
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + word))
		forms = append(forms, text[(8*before+5)/6:8*(before+len(word))/6])
	}
	return forms
}
