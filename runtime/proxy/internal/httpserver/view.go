package httpserver

import (
	"net/http"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
)

// noName is what no view is called.
const noName = "/"

// address returns the view that the URL of a request names, "" for none: PATH/NAME, or
// ?view=NAME.
func (o *Options) address(r *http.Request) string {
	var name string
	if len(r.URL.Path) > len(o.Path) && o.Path != "" {
		if name, _ = strings.CutPrefix(r.URL.Path[len(o.Path):], "/"); name == "" {
			return noName
		}
	}
	if r.URL.RawQuery == "" {
		return name
	}
	if in := r.URL.Query()["view"]; len(in) == 1 && (name == "" || name == in[0]) && in[0] != "" {
		return in[0]
	} else if in != nil {
		return noName
	}
	return name
}

// knows refuses a request at the address of a view that there is not, as one at any address
// where nothing is.
func (o *Options) knows(p *endpoint.Set, w http.ResponseWriter, r *http.Request) bool {
	if at := o.address(r); at != "" {
		if _, known := p.Router.Views.Of(at, nil, ""); !known {
			http.NotFound(w, r)
			o.drain(w, r)
			return false
		}
	}
	return true
}
