// Package elicit answers a server's elicitations during a call (2025-11-25, Client
// features, Elicitation): a form described by a flat JSON Schema, or a page to open.
// A [Policy] says who answers: the user at the terminal, the schema's defaults, a
// given object, or nobody.
//
//	{"message":"Which board?","requestedSchema":{"type":"object",
//	  "properties":{"kind":{"type":"string","enum":["oak","pine"],"default":"oak"}}}}
//	→ {"action":"accept","content":{"kind":"oak"}}
package elicit
