// Package templates has the pages that people see in a browser, as html/template
// reads them.
package templates

import _ "embed"

// Callback is the page at the end of a login. It has Title, Text, Server (whom the
// login was for, "" for nobody) and Failed.
//
//go:embed callback.html
var Callback string

// Connect is the page that leads to a login which a client has asked for. It has
// Server and Issuer.
//
//go:embed connect.html
var Connect string
