// Package sse reads and writes server-sent events (WHATWG HTML, "Server-sent
// events"), the framing of streamed answers over HTTP.
//
// A [Reader] is incremental: it returns an event as soon as its blank line has
// arrived, however the bytes were cut on their way, and never holds more than
// its limit. The bytes of an event's data are passed on as they came, without
// repair of invalid UTF-8.
package sse
