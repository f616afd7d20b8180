package upstream

import (
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// maxPromised bounds the elicitations of one connection whose end is awaited;
// beyond it one of them is not told.
const maxPromised = 256

// Promise notes to whom the end of an elicitation by URL is to be told
// (2025-11-25, Elicitation, Completion Notifications).
func (c *Conn) Promise(who *Client, method string, params json.RawMessage) {
	if who == nil || method != revision.MethodElicitationCreate {
		return
	}
	at, err := rawjson.Field(params, "elicitationId")
	if err != nil || !at.Present() {
		return
	}
	c.Slot.Backend.KeepForAnswers()
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.promised == nil {
		c.promised = map[string]*Client{}
	}
	if len(c.promised) >= maxPromised {
		for id := range c.promised {
			delete(c.promised, id)
			break
		}
	}
	c.promised[string(at.Of(params))] = who
}

// completed passes on that an elicitation has ended, to the client that was
// asked and to nobody else.
func (c *Conn) completed(params json.RawMessage) {
	at, err := rawjson.Field(params, "elicitationId")
	if err != nil || !at.Present() {
		return
	}
	id := string(at.Of(params))
	c.Mu.Lock()
	who := c.promised[id]
	delete(c.promised, id)
	c.Mu.Unlock()
	if who == nil {
		return
	}
	if version, _ := who.TermsOf(); version == "2025-11-25" { // no other has the message
		who.Tell(revision.NotificationElicitationComplete, params)
	}
}
