package httpserver

import (
	"net/http"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
)

// Health is proxy.Proxy.Health.
func Health(p *endpoint.Set, o Options) http.Handler {
	o = o.withDefaults()
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", o.probe(func() (int, string) { return http.StatusOK, "ok" }))
	mux.HandleFunc("/readyz", o.probe(func() (int, string) {
		if !p.Ready() {
			return http.StatusServiceUnavailable, "ending"
		}
		return o.Ready()
	}))
	return mux
}

func (o *Options) probe(state func() (status int, word string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		open := *o // probes need no credential
		open.AccessControl.Authenticator = nil
		if _, ok := open.admit(w, r); !ok {
			return
		}
		w.Header()["Cache-Control"] = noStore
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			o.notAllowed(w, r, "GET, HEAD", "method not allowed")
			return
		}
		status, word := state()
		write(w, status, []byte(`{"status":"`+word+`"}`+"\n"))
	}
}
