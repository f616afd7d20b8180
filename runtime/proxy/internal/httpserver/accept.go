package httpserver

import (
	"mime"
	"net/http"
	"strings"
)

// accept is the media types that a client takes. The one named first decides where
// nothing else does.
type accept struct {
	json, events, eventsFirst bool
	// codings are the lines of Accept-Encoding, and peer is who asks. They are read for an
	// answer that is worth compressing.
	codings []string
	peer    string // HOST:PORT
}

// streams reports whether an answer is a stream from the start.
func (t accept) streams() bool { return t.events && (!t.json || t.eventsFirst) }

// acceptOf reads the Accept header. "The client MUST include an Accept header"
// (2025-11-25, Sending Messages to the Server); without one it takes everything.
func acceptOf(r *http.Request) accept {
	lines := r.Header["Accept"]
	if len(lines) == 1 && lines[0] == "" {
		lines = nil
	}
	out := accept{json: len(lines) == 0, events: len(lines) == 0}
	for _, line := range lines {
		if line == "application/json, text/event-stream" { // what nearly all send
			return accept{json: true, events: true}
		}
		for part := range strings.SplitSeq(line, ",") {
			media, _, _ := strings.Cut(part, ";")
			switch media = strings.ToLower(strings.TrimSpace(media)); media {
			case "*/*":
				out.json, out.events = true, true
			case "application/json", "application/*":
				out.json = true
			case "text/event-stream", "text/*":
				out.events, out.eventsFirst = true, !out.json
			}
		}
	}
	return out
}

func (o Options) withDefaults() Options {
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 20
	}
	return o
}

func isJSON(contentType string) bool {
	if contentType == "application/json" { // nearly all
		return true
	}
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "application/json"
}
