package policy

import "github.com/cedar-policy/cedar-go/types"

// Kind is a kind of item.
type Kind uint8

// Kinds of items, in the order of package inventory.
const (
	Tool Kind = iota
	Prompt
	Resource
	Template
	numKinds
)

// Action is what a principal does.
type Action string

// Actions. Call is for tools, Get for prompts, Read for resources and their news; the
// others are for servers, but Deliver, which is a result on its way to the client.
const (
	Call     Action = "call"
	Get      Action = "get"
	Read     Action = "read"
	Question Action = "question"
	Link     Action = "link"
	Operate  Action = "operate"
	Deliver  Action = "deliver"
)

// actions returns all.
func actions() []Action { return []Action{Call, Get, Read, Question, Link, Operate, Deliver} }

// entityType returns the type of the entities of a kind.
func (k Kind) entityType() types.EntityType {
	return [numKinds]types.EntityType{Tool: "Tool", Prompt: "Prompt", Resource: "Resource", Template: "Resource"}[k]
}

// Action returns what is done with items of a kind.
func (k Kind) Action() Action {
	return [numKinds]Action{Tool: Call, Prompt: Get, Resource: Read, Template: Read}[k]
}

// Server is a server as policies see it.
type Server struct {
	// Name is the configured one.
	Name string
	// Transport is stdio, http, sse or cli.
	Transport string
	// Labels are those of its entry; labels of the policies come in addition.
	Labels []string
	// Trusted says that the annotations of its tools count.
	Trusted bool
}

// Item is a tool, prompt, resource or resource template of a server.
type Item struct {
	Kind Kind
	// Server is the name of its server.
	Server string
	// Name is the server's own: of a resource its URI, of a template its text.
	Name string
	// Definition is the item as the server has sent it; nil for a resource in no list.
	// It is read when an argument or an annotation is needed.
	Definition []byte
	// Pinned says that the definition is that of servers.lock.json.
	Pinned bool
}
