// Package templates has the pages that people see in a browser. A name in double
// braces stands for a text, which has to be escaped.
package templates

import "embed"

// Callback is the page at the end of a login. It has title, class, which is "failed" or
// nothing, and paragraphs, which are elements.
//
//go:embed callback.html
var Callback string

// Connect is the page that leads to a login which a client has asked for. It has
// server and issuer.
//
//go:embed connect.html
var Connect string

// Pages has the pages of serve: page.css, page.html, and what stands in page.html, in
// files that begin with page_.
//
//go:embed page.css page*.html
var Pages embed.FS
