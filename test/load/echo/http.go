package echo

import (
	"encoding/json"
	"io"
	"net/http"
)

// Handler answers over Streamable HTTP, with JSON and without sessions.
func Handler(o Options) http.Handler {
	s := newServer(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		var m message
		if err != nil || json.Unmarshal(body, &m) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		a, ok := s.answer(m)
		if !ok {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		b, err := json.Marshal(a)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b) // a client that has gone misses nothing
	})
}
