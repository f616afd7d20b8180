// Package elicit answers what a server asks of a person in the middle of a
// call (2025-11-25, Client features, Elicitation): a form whose fields the
// server describes by a flat JSON Schema, or a page to open. A [Policy] says
// who answers: the person at the terminal, the schema's own defaults, an object
// that was given beforehand, or nobody.
//
//	{"message":"Which board?","requestedSchema":{"type":"object",
//	  "properties":{"kind":{"type":"string","enum":["oak","pine"],"default":"oak"}}}}
//	→ {"action":"accept","content":{"kind":"oak"}}
package elicit
