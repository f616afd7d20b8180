package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/templates"
)

const (
	// firstPort to lastPort are the ports that the redirect is listened for on.
	firstPort = 8085
	lastPort  = 8099
	// redirectPath is its path.
	redirectPath = "/callback"
	// loginTime bounds how long a person may take.
	loginTime = 5 * time.Minute
)

// redirect is what the browser brings back.
type redirect struct {
	code, iss string
	hasIss    bool
	err       *OAuthError
}

// listener waits on this machine for the browser to come back.
type listener struct {
	net.Listener
	state    string
	got      chan redirect // the first that has the state
	entrance *entrance     // nil where the browser goes to the authorization server at once
}

// listen opens a port for the redirect: the preferred one where it is free, else the
// first free one of ours, else any. A port that was asked for by hand is that or none.
func listen(ctx context.Context, preferred string, fixed int) (*listener, error) {
	var lc net.ListenConfig
	try := func(port int) (net.Listener, error) {
		return lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	if fixed > 0 {
		ln, err := try(fixed)
		if err != nil {
			return nil, fmt.Errorf("the callback port %d cannot be listened on (%w): choose another with --callback-port, 0 for any", fixed, err)
		}
		return &listener{Listener: ln}, nil
	}
	var ports []int
	if port, err := strconv.Atoi(preferred); err == nil {
		ports = append(ports, port)
	}
	if fixed == 0 {
		for port := firstPort; port <= lastPort; port++ {
			ports = append(ports, port)
		}
	}
	var failure error
	for _, port := range append(ports, 0) {
		ln, err := try(port)
		if err == nil {
			return &listener{Listener: ln}, nil
		}
		failure = err
	}
	return nil, fmt.Errorf("no port on this machine can be listened on: %w", failure)
}

// uri returns the redirect URI.
func (l *listener) uri() string { return "http://" + l.Addr().String() + redirectPath }

// serve answers the browser until ctx ends.
func (l *listener) serve(ctx context.Context, state, server string) {
	l.state, l.got = state, make(chan redirect, 1)
	srv := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.answer(w, r, server) }),
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
	}
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = srv.Shutdown(end) // the page may still be on its way
		_ = srv.Close()
	})
	go func() { // ended by stop's Shutdown
		defer stop()
		_ = srv.Serve(l.Listener)
	}()
}

// callbackPage is what the browser shows at the end. Server is whom the login was for,
// "" for nobody.
type callbackPage struct {
	Title, Text, Server string
	Failed              bool
}

func (p callbackPage) html() string {
	lines, class := []string{p.Text}, ""
	if p.Server != "" {
		lines = []string{"Server: " + p.Server, p.Text}
	}
	if p.Failed {
		lines, class = append(lines, "You can close this page."), "failed"
	}
	var paragraphs strings.Builder
	for _, line := range lines {
		paragraphs.WriteString("<p>" + html.EscapeString(line) + "</p>\n")
	}
	return strings.NewReplacer("{{title}}", html.EscapeString(p.Title), "{{class}}", class, "{{paragraphs}}", paragraphs.String()).Replace(templates.Callback)
}

// answer takes the redirect. Other requests, such as for an icon, and those without
// our state change nothing.
func (l *listener) answer(w http.ResponseWriter, r *http.Request, server string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	e := l.entrance
	switch {
	case e != nil && r.Host != l.Addr().String(): // another name for this address is somebody's trick
		http.NotFound(w, r)
		return
	case e != nil && r.URL.Path == e.path && (r.Method == http.MethodGet || r.Method == http.MethodPost):
		e.serve(w, r)
		return
	case r.URL.Path != redirectPath || r.Method != http.MethodGet:
		http.NotFound(w, r)
		return
	}
	got, err := readRedirect(r.URL.Query(), l.state)
	if err == nil && e != nil && !e.isBound(r) {
		err = errBrowser
	}
	where := "the terminal"
	if e != nil {
		where = "your client"
	}
	switch {
	case err != nil:
		showPage(w, http.StatusBadRequest, callbackPage{Title: "This is no answer to a login", Text: err.Error(), Failed: true})
		return
	case got.err != nil:
		showPage(w, http.StatusOK, callbackPage{Title: "mcpctl is not authorised", Text: got.err.Error(), Failed: true})
	default:
		showPage(w, http.StatusOK, callbackPage{Title: "mcpctl is authorised", Text: "You can close this page and go back to " + where + ".", Server: server})
	}
	select {
	case l.got <- got:
	default: // the page was loaded again
	}
}

// showPage sends a page, whole: mcpctl may end as soon as it has the answer.
func showPage(w http.ResponseWriter, status int, p callbackPage) {
	text := p.html()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// errBrowser is a redirect in another browser than the login began in.
var errBrowser = errors.New("it belongs to the browser in which the login began")

// errState is a redirect that is not an answer to our question.
var errState = errors.New("its state is not the one of this login")

// readRedirect reads what a redirect has in its query.
func readRedirect(q url.Values, state string) (redirect, error) {
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
		return redirect{}, errState
	}
	got := redirect{code: q.Get("code"), iss: q.Get("iss"), hasIss: q.Has("iss")}
	if code := q.Get("error"); code != "" {
		got.err = &OAuthError{Code: code, Description: q.Get("error_description")}
	} else if got.code == "" {
		return redirect{}, errors.New("it has neither a code nor an error")
	}
	return got, nil
}
