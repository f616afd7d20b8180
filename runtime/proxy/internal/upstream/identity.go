package upstream

import (
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
)

// identity is who a client says it is.
type identity struct{ name, version string }

// maxIdentity bounds what is kept of a name, in bytes.
const maxIdentity = 100

// setIdentity notes who the client says it is in an initialize request.
func (p *Client) setIdentity(line []byte, m *rawjson.Message) {
	params := m.Params.Of(line)
	info, err := rawjson.Field(params, "clientInfo")
	if err != nil || !info.Present() {
		return
	}
	var at [2]rawjson.Span
	object := info.Of(params)
	if rawjson.Fields(object, at[:], "name", "version") != nil {
		return
	}
	var who identity
	for i, to := range []*string{&who.name, &who.version} {
		text, _ := rawjson.String(object, at[i])
		*to = Clipped(text, maxIdentity)
	}
	p.identity.Store(&who)
}

// Clipped bounds a text, in bytes.
func Clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// ClientInfo is what a status tells of a client; see proxy.ClientStatus.
type ClientInfo struct {
	Front, Name, Version, Revision string
	Since, LastSeen                time.Time
	InFlight, Streams              int
}

// Status tells what is known of a client whatever its front.
func (p *Client) Status(front string) ClientInfo {
	s := ClientInfo{Front: front, Since: p.since, LastSeen: p.since}
	s.Revision, _ = p.TermsOf()
	if who := p.identity.Load(); who != nil {
		s.Name, s.Version = who.name, who.version
	}
	return s
}
