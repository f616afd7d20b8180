package bridge

// Item gives an entry of a list (Method is the list's) in the client's
// revision.
func (c *Conversion) Item(item []byte) []byte { return item }

// WrapsOutput tells whether a tool's output schema has to be wrapped for
// clients of the handshake era, whose schemas are of objects: they see
// {"type":"object","properties":{"result":SCHEMA},"required":["result"]}.
func WrapsOutput(tool []byte) bool { return false }
