package gateway

import (
	"net/http"

	"github.com/rs/cors"
)

// withCORS has browsers let web pages of some origins send requests to an endpoint and read
// the answers (Fetch, HTTP CORS protocol). Browsers ask first, without a credential: that is
// answered here, for these origins alone. Cookies count for nothing, and are not let through.
func withCORS(next http.Handler, origins []string) http.Handler {
	if len(origins) == 0 {
		return next
	}
	const twoHours = 2 * 60 * 60 // that browsers remember the answer, the most for some of them
	c := cors.New(cors.Options{
		AllowedOrigins: origins, AllowedMethods: []string{http.MethodGet, http.MethodPost, http.MethodDelete}, MaxAge: twoHours,
		AllowedHeaders:      []string{"*"}, // Mcp-Param-… have the names of arguments
		AllowPrivateNetwork: true,          // a page of the internet may reach this machine
		ExposedHeaders:      []string{"Mcp-Session-Id", "Retry-After", "WWW-Authenticate"},
	})
	shared := c.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.OriginAllowed(r) {
			shared.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
