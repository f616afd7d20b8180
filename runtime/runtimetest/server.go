package runtimetest

import (
	"cmp"
	"context"
	"encoding/json"
	"time"
)

// Protocol revisions, oldest first. The last one is "modern": requests carry
// their version in _meta and there is no handshake.
const (
	Rev2024 = "2024-11-05"
	RevMar  = "2025-03-26"
	RevJune = "2025-06-18"
	RevNov  = "2025-11-25"
	RevJuly = "2026-07-28"
)

// Server is a scripted MCP server. The zero value is a legacy server that
// offers nothing; [New] returns one with a standard set of tools, [Full] one that
// uses all of the protocol. A Server may serve many connections at once; its
// fields must not change while it does, nor may it be copied.
type Server struct {
	// Name, Title and Version are those of serverInfo; "" is "fake-mcp", none and
	// "1.0.0".
	Name, Title, Version string
	// Instructions are sent with the handshake; "" sends none.
	Instructions string
	// Versions are the revisions it speaks, best first. Empty: the four legacy
	// ones, newest first.
	Versions []string
	// Capabilities is the raw capabilities object; nil derives it from what is
	// offered.
	Capabilities json.RawMessage

	Tools     []Tool
	Resources []Resource
	// Templates are raw entries of resources/templates/list.
	Templates []json.RawMessage
	// Read answers reads of what is none of Resources, or has no Result; nil
	// finds nothing.
	Read    Func
	Prompts []Prompt

	// Methods answers requests before anything else does, by method name; it
	// can replace the handshake too.
	Methods map[string]Func

	// PageSize splits every list into pages of that many entries; 0 is one
	// page. Cursors are opaque.
	PageSize int
	// Grease adds unknown members to every object of every answer, except
	// inside schemas, structured content and arguments: a correct client or
	// proxy must carry them along.
	Grease bool
	// Delay holds back the answer to a request; nil is no delay.
	Delay func(method string) time.Duration
	// Drain is how long calls may go on after the end of input; 0 is 50 ms.
	Drain time.Duration
	// Strict refuses what a client of 2026-07-28 must not do and most servers
	// let pass: requests without clientCapabilities, and over HTTP revisions in
	// the header that are not spoken or not claimed in the body. Errors have the
	// HTTP status of that revision, and results name the server in _meta.
	Strict bool
	// Seen gets every message that arrives, before it is handled. It is called
	// from the connection's reader and must not keep the slice.
	Seen func(frame []byte)

	// Private are methods whose results since 2026-07-28 have cacheScope
	// "private" in place of "public".
	Private []string
	// Subscriptions offers resources/subscribe, and subscriptions/listen since
	// 2026-07-28.
	Subscriptions bool

	Faults Faults

	world world
}

// Faults are ways to misbehave. The zero value behaves.
type Faults struct {
	// ExitAtOnce ends Serve before anything is read, with ExitCode.
	ExitAtOnce bool
	ExitCode   int
	// ExitOnProbe ends Serve with ExitCode when the first message is not
	// initialize, as servers built on older Rust SDKs do.
	ExitOnProbe bool
	// SilentProbe never answers server/discover; everything else works.
	SilentProbe bool
	// InvalidProbe answers server/discover with -32602, as servers do that
	// check the params before the method.
	InvalidProbe bool
	// LegacyDiscover answers server/discover with the legacy revisions alone.
	LegacyDiscover bool
	// ModernDiscover answers server/discover with the modern revisions alone, takes a
	// handshake over another connection, and asks clients in that era only, as servers
	// of some SDKs do.
	ModernDiscover bool
	// ExitOnInitialize ends Serve with ExitCode at a handshake.
	ExitOnInitialize bool
	// Silent reads and never answers.
	Silent bool
	// SilentMethods are never answered.
	SilentMethods []string
	// Rubbish lines are printed before anything is read.
	Rubbish []string
	// RubbishOnly prints Rubbish in answer to each message, in place of JSON.
	RubbishOnly bool
	// RubbishBetween prints Rubbish before each answer, too.
	RubbishBetween bool
	// HalfAnswer writes the first half of an answer to tools/call and exits.
	HalfAnswer bool
	// UnknownIDs answers an id nobody asked for before each answer.
	UnknownIDs bool
	// Twice sends every answer two times.
	Twice bool
	// StartDelay passes before anything is read.
	StartDelay time.Duration
	// Linger passes after the end of input before Serve returns.
	Linger time.Duration
	// Unsupported answers server/discover with -32022 and this raw data;
	// "null" sends none. Nil answers properly, or -32601 where Versions holds
	// no modern revision.
	Unsupported json.RawMessage
	// Ask sends these requests to the client as soon as it is initialized,
	// such as "ping" or "roots/list". What comes back goes to Seen, results to
	// Status.Answers.
	Ask []string
	// BadCursor makes every page of a list name the same next cursor.
	BadCursor bool
}

// Func answers one request with a raw result. A [*runtime.Error] is sent as it
// is, an [*ExitError] ends the server, any other error becomes -32603.
type Func func(ctx context.Context, c *Call) (json.RawMessage, error)

// Tool is one tool: its raw entry in tools/list and what it does.
type Tool struct {
	Definition json.RawMessage
	Call       Func
	// Since is the revision that a server has to speak to have it, "" for any.
	Since string
}

// Resource is one resource: its raw entry in resources/list and the raw result
// of reading it.
type Resource struct {
	Definition json.RawMessage
	Result     json.RawMessage
}

// Prompt is one prompt: its raw entry in prompts/list and what returns it.
type Prompt struct {
	Definition json.RawMessage
	Get        Func
}

// ExitError is how a server's process ends.
type ExitError struct{ Code int }

// Error says that the end was asked for.
func (e *ExitError) Error() string { return "fake server exits as told" }

func (s *Server) versions() []string {
	if len(s.Versions) > 0 {
		return s.Versions
	}
	return []string{RevNov, RevJune, RevMar, Rev2024}
}

// modern and legacy split the versions by era; the order is kept.
func (s *Server) modern() (modern, legacy []string) {
	for _, v := range s.versions() {
		if v >= RevJuly {
			modern = append(modern, v)
		} else {
			legacy = append(legacy, v)
		}
	}
	return modern, legacy
}

func (s *Server) info() json.RawMessage {
	return wireObject("name", cmp.Or(s.Name, "fake-mcp"), "title", optional(s.Title), "version", cmp.Or(s.Version, "1.0.0"))
}

func (s *Server) capabilities() json.RawMessage {
	if s.Capabilities != nil {
		return s.Capabilities
	}
	m := map[string]json.RawMessage{}
	if len(s.Tools) > 0 {
		m["tools"] = json.RawMessage(`{"listChanged":true}`)
	}
	if len(s.Resources)+len(s.Templates) > 0 {
		m["resources"] = json.RawMessage(`{"listChanged":true}`)
	}
	if len(s.Prompts) > 0 {
		m["prompts"] = json.RawMessage(`{}`)
	}
	return wireMarshal(m)
}
