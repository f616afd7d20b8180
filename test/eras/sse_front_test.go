package eras_test

import (
	"net/http"

	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// serveSSE adds the HTTP+SSE front.
func serveSSE(*proxy.Proxy, *http.ServeMux) {}
