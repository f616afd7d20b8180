package proxy

import (
	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/finder"
)

// Search is how clients find tools. The zero value lists all.
type Search struct {
	// List is how tools are listed for clients without a view; "" is [views.ListAll].
	List views.Form
	// Budget is how many tokens a list may take with [views.ListAuto], also in a view
	// without a budget of its own; 0 is 10,000.
	Budget int
	// Expose is how many tools that a session has found join its list, for clients of the
	// handshake era without a view; 50 at most. They are told of that before the answer.
	Expose int
	// Native are the names of programs that search tools by themselves, in the place of
	// those that are known to; nil for these.
	Native []string
	// Engine ranks the tools; nil is one with the vocabulary of mcpctl.
	Engine *search.Engine
}

// ToolCount is how many tools of a server a client may use.
type ToolCount struct {
	Server string
	Tools  int
}

// SearchTools returns the definitions of the tools that find and call others, as clients are
// listed them, with commas between them. NoPrefix is that of the [Options].
func SearchTools(noPrefix bool, servers []ToolCount) []byte {
	all := make([]finder.Server, len(servers))
	for i, s := range servers {
		all[i] = finder.Server{Name: s.Server, Tools: s.Tools}
	}
	return ownTools(noPrefix).Definitions(all)
}

// ReadTool returns the definition of the tool that reads on in a long result, as clients of a
// view that pages are listed it. NoPrefix is that of the [Options].
func ReadTool(noPrefix bool) []byte { return ownTools(noPrefix).ReadDefinition() }

func ownTools(noPrefix bool) finder.Own {
	if noPrefix {
		return finder.NewOwn(finder.Prefix)
	}
	return finder.NewOwn("")
}
