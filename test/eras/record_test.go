package eras_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// leg is one of the two connections that a transcript shows: what goes up it is
// away from the client.
type leg struct{ up, down string }

var (
	clientLeg = leg{"client to mcpctl", "mcpctl to client"}
	serverLeg = leg{"mcpctl to server", "server to mcpctl"}
)

// recorder keeps what crosses the two legs.
type recorder struct {
	mu        sync.Mutex // guards the rest
	exchanges map[leg][]*exchange
	named     map[leg]int
}

// exchange is one HTTP exchange, or one connection over stdio: what it holds
// comes in pieces, between which others may come.
type exchange struct {
	r        *recorder
	stdio    bool
	number   int // 0 until a step that it is in is over
	up, down strings.Builder
}

func newRecorder() *recorder {
	return &recorder{exchanges: map[leg][]*exchange{}, named: map[leg]int{}}
}

func (r *recorder) open(l leg, stdio bool) *exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := &exchange{r: r, stdio: stdio}
	r.exchanges[l] = append(r.exchanges[l], x)
	return x
}

// upward and downward write to one of the two directions.
func (x *exchange) upward() io.Writer   { return recording{x.r, &x.up} }
func (x *exchange) downward() io.Writer { return recording{x.r, &x.down} }

// recording is one direction of an exchange.
type recording struct {
	r  *recorder
	to *strings.Builder
}

// Write implements [io.Writer].
func (w recording) Write(b []byte) (int, error) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.to.Write(b)
}

// show returns what has crossed a leg since the last step. What happens side by
// side comes in an order of its own: exchanges by their requests, which stable
// makes alike from run to run, and the lines of stdio by their text. At the end
// of a step exchanges are numbered and their text is forgotten.
func (r *recorder) show(l leg, stable func(string) string, end bool) (up, down string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	live := slices.DeleteFunc(slices.Clone(r.exchanges[l]), func(x *exchange) bool { return x.up.Len()+x.down.Len() == 0 })
	slices.SortStableFunc(live, func(a, b *exchange) int {
		if a.number != 0 && b.number != 0 {
			return cmp.Compare(a.number, b.number)
		}
		if a.number != 0 || b.number != 0 {
			return cmp.Compare(b.number, a.number) // those of earlier steps first
		}
		return cmp.Compare(stable(a.up.String()), stable(b.up.String()))
	})
	next := r.named[l]
	for _, x := range live {
		n := x.number
		if n == 0 {
			next++
			n = next
		}
		up += x.part(n, stable(x.up.String()))
		down += x.part(n, stable(x.down.String()))
		if end {
			x.number = n
			x.up.Reset()
			x.down.Reset()
		}
	}
	if end {
		r.named[l] = next
	}
	return up, down
}

func (x *exchange) part(n int, text string) string {
	if text == "" {
		return ""
	}
	if x.stdio {
		lines := strings.SplitAfter(text, "\n")
		slices.Sort(lines)
		text = strings.Join(lines, "")
	}
	return fmt.Sprintf("#%d ", n) + text
}

// handler records what an HTTP handler is sent and answers: of the headers those
// that are the protocol's.
func (r *recorder) handler(l leg, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the client is gone
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		x := r.open(l, false)
		fmt.Fprint(x.upward(), req.Method+" "+req.URL.RequestURI()+"\n"+protocolHeaders(req.Header)+framed(body))
		rec := &recordedResponse{ResponseWriter: w, to: x.downward()}
		h.ServeHTTP(rec, req)
		if req.Context().Err() == nil {
			rec.head(http.StatusOK)
		}
	})
}

// framed puts a body on a line of its own, where there is one.
func framed(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	return strings.TrimSuffix(string(body), "\n") + "\n"
}

func protocolHeaders(h http.Header) string {
	var lines []string
	for name, values := range h {
		if strings.HasPrefix(name, "Mcp-") || slices.Contains([]string{"Accept", "Content-Type", "Last-Event-Id", "Allow"}, name) {
			for _, v := range values {
				lines = append(lines, name+": "+v+"\n")
			}
		}
	}
	slices.SortFunc(lines, cmp.Compare)
	return strings.Join(lines, "")
}

// recordedResponse is a response whose status, headers and body are recorded as
// they are written.
type recordedResponse struct {
	http.ResponseWriter
	to    io.Writer
	wrote bool
}

func (w *recordedResponse) head(status int) {
	if !w.wrote {
		w.wrote = true
		fmt.Fprintf(w.to, "%d\n%s", status, protocolHeaders(w.Header()))
	}
}

// WriteHeader implements [http.ResponseWriter].
func (w *recordedResponse) WriteHeader(status int) {
	w.head(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [io.Writer].
func (w *recordedResponse) Write(b []byte) (int, error) {
	w.head(http.StatusOK)
	text := string(b)
	if w.Header().Get("Content-Type") != "text/event-stream" {
		text = framed(b)
	}
	fmt.Fprint(w.to, text)
	return w.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (w *recordedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// recordedStdio is a proxy whose stdio endpoints are recorded.
type recordedStdio struct {
	*proxy.Proxy
	r *recorder
}

// ServeStdio implements stdioServer.
func (s recordedStdio) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	x := s.r.open(clientLeg, true)
	return s.Proxy.ServeStdio(ctx, io.TeeReader(in, x.upward()), io.MultiWriter(x.downward(), out))
}
