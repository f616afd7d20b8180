package proxy

import "net/http"

// Health answers those who watch the process: /healthz is 200 as long as it
// runs, /readyz is 200 while new requests are taken and 503 from [Proxy.Drain]
// on. Servers are connected on demand and fail one by one, so none makes it
// unready. The answers are {"status":"ok"|"ready"|"ending"}. No lock is taken.
// Of the options, AnyHost counts.
func (p *Proxy) Health(o HTTPOptions) http.Handler {
	o = o.withDefaults()
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", o.probe(func() (int, string) { return http.StatusOK, "ok" }))
	mux.HandleFunc("/readyz", o.probe(func() (int, string) {
		if p.Ready() {
			return http.StatusOK, "ready"
		}
		return http.StatusServiceUnavailable, "ending"
	}))
	return mux
}

func (o *HTTPOptions) probe(state func() (status int, word string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !o.admit(w, r) {
			return
		}
		head := w.Header()
		head["Cache-Control"] = noStore
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			o.notAllowed(w, r, "GET, HEAD", "method not allowed")
			return
		}
		status, word := state()
		write(w, status, []byte(`{"status":"`+word+`"}`+"\n"))
	}
}
