package auth

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// recorder notes whether the answer was handed on before the page was sent.
type recorder struct {
	*httptest.ResponseRecorder
	l     *listener
	early bool
}

func (r *recorder) Flush() {
	r.early = len(r.l.got) > 0
	r.ResponseRecorder.Flush()
}

// TestPageIsSent: the page is sent, whole, before the login goes on, since the process
// may end then.
func TestPageIsSent(t *testing.T) {
	t.Parallel()
	for query, answers := range map[string]int{"code=1&state=mine": 1, "error=no&state=mine": 1, "code=1&state=other": 0} {
		l := &listener{state: "mine", got: make(chan redirect, 1)}
		w := &recorder{ResponseRecorder: httptest.NewRecorder(), l: l}
		l.answer(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, redirectPath+"?"+query, nil), "server")
		length := w.Result().Header.Get("Content-Length")
		if !w.Flushed || w.early || length != strconv.Itoa(w.Body.Len()) || len(l.got) != answers {
			t.Errorf("%s: sent %v, early %v, %s of %d bytes, %d answers", query, w.Flushed, w.early, length, w.Body.Len(), len(l.got))
		}
	}
}
