package router

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/interaction"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// state is what a client keeps for the proxy between the rounds of a request,
// sealed into requestState (2026-07-28, Multi round-trip requests). A retry
// must be for the same method and target; arguments are the backend's to bind,
// since a client may write them differently the second time.
type state struct {
	Backend string `json:"b"`
	Method  string `json:"m"`
	// Target is the name or URI as the client knows it.
	Target string `json:"t"`
	// Way stands for how the backend was reached, see Server.Connection: another
	// server may be there under its name.
	Way string `json:"w,omitempty"`
	// Inner is the backend's own state, a JSON string as it came; nil for none.
	Inner json.RawMessage `json:"i,omitempty"`
	// Given are answers that the proxy has given in the client's place.
	Given map[string]json.RawMessage `json:"g,omitempty"`
	// Ticket is that of the call that waits; nil if none does.
	Ticket *interaction.Ticket `json:"p,omitempty"`
	// Again reports that the request is made as if for the first time.
	Again bool `json:"a,omitempty"`
}

// of sets whose the state is; nil: nobody knows.
func (s *state) of(b *upstream.Backend) {
	if b == nil {
		return
	}
	s.Backend = b.Name
	if way := b.Config().Way(); way != "" {
		sum := sha256.Sum256([]byte(way))
		s.Way = hex.EncodeToString(sum[:8])
	}
}

// strange returns why a backend must not get the state, "" if it may: the state
// is its own, or the call that it belongs to goes on where it was.
func (s *state) strange(b *upstream.Backend, what string) string {
	var now state
	switch now.of(b); {
	case s.Backend == "":
	case s.Backend != b.Name:
		return "is of another server, which had this " + what + " before"
	case s.Ticket == nil && s.Way != "" && s.Way != now.Way:
		return "is of the server that was configured before: make the request anew"
	}
	return ""
}

// statePurpose keeps request states apart from other sealed texts. The audience
// follows it: what is sealed for one is of no use to another.
const statePurpose = "requestState:"

// sealed returns the state as a JSON string.
func (s *state) sealed(ring *seal.Keyring, audience string) []byte {
	return rawjson.Quote(nil, ring.Seal(statePurpose+audience, marshal(s), seal.StateTTL))
}

// unseal returns the state that the request has come back with, nil for none.
func (r *Request) unseal(target string) (*state, error) {
	if !r.Msg.RequestState.Present() {
		return nil, nil
	}
	sealed, ok := rawjson.String(r.Line, r.Msg.RequestState)
	if !ok {
		return nil, upstream.Invalid("params.requestState is not a string")
	}
	plain, err := r.rt.o.Catalog.Ring.Open(statePurpose+r.From.Key(), sealed)
	if err != nil {
		return nil, upstream.Invalid("params.requestState: %v", err)
	}
	s := &state{}
	if err := json.Unmarshal(plain, s); err != nil {
		return nil, upstream.Invalid("params.requestState: %v", seal.ErrTampered)
	}
	if s.Method != r.Method || s.Target != target {
		return nil, upstream.Invalid("params.requestState belongs to another request")
	}
	return s, nil
}

// again returns the request without what only a retry has, but for the backend's
// own state and the answers: the client's, and those that the proxy has given. It is
// another one in any case.
func (r *Request) again(s *state) (*Request, error) {
	out := *r
	if !r.Msg.RequestState.Present() && (!s.Again || !r.Msg.InputResponses.Present()) && len(s.Inner) == 0 && len(s.Given) == 0 {
		return &out, nil
	}
	params, err := rawjson.Without(r.params(), func(name string) bool {
		return name == "requestState" || s.Again && name == "inputResponses"
	})
	if err != nil {
		return nil, err
	}
	var members []rawjson.Member
	if len(s.Inner) > 0 {
		members = append(members, rawjson.Member{Name: "requestState", Value: s.Inner})
	}
	if len(s.Given) > 0 {
		given := make([]rawjson.Member, 0, len(s.Given))
		for _, k := range slices.Sorted(maps.Keys(s.Given)) {
			given = append(given, rawjson.Member{Name: k, Value: s.Given[k]})
		}
		if params, err = rawjson.SetNested(params, "inputResponses", given); err != nil {
			return nil, err
		}
	}
	if params, err = rawjson.Set(params, members); err != nil {
		return nil, err
	}
	line, m := rawjson.Splice(nil, r.Line, rawjson.Edit{Span: r.Msg.Params, New: params}), new(rawjson.Message)
	if err := rawjson.Scan(line, m); err != nil {
		return nil, err
	}
	out.Line, out.Msg = line, m
	return &out, nil
}

// lostError is an interaction that cannot go on.
type lostError struct{ why string }

func (e *lostError) Error() string    { return e.why }
func (e *lostError) ExitKind() string { return "lost" }

// lost returns the error for a call that this process does not hold: it is never
// made again silently, since it may have acted.
func (v *conversation) lost() error {
	hint := ""
	if v.kind == inventory.Tools {
		switch says := v.annotations(); {
		case says.ReadOnly:
			hint = " The server says that the tool changes nothing: it can be called again."
		case says.Idempotent:
			hint = " The server says that calling the tool twice does no harm: it can be called again."
		default:
			hint = " The tool may have acted; the server does not say that it can be called again without harm."
		}
	}
	return &lostError{"the interaction that this answer belongs to is lost: the server's call has ended or mcpctl has been restarted." + hint}
}

// annotations are what a tool says of calling it again.
type annotations struct {
	ReadOnly   bool `json:"readOnlyHint"`
	Idempotent bool `json:"idempotentHint"`
}

// annotations returns those of the tool, zero if it is not known.
func (v *conversation) annotations() annotations {
	var tool struct{ Annotations annotations }
	r := v.rt.Catalog.Of(v.From.Audience).Routes[inventory.Tools][v.stored.Target]
	if r == nil || json.Unmarshal(r.Definition, &tool) != nil {
		return annotations{}
	}
	return tool.Annotations
}
