package runtime

import (
	"encoding/json"
	"maps"
	"time"
)

// CallOption is one setting of a generated client or of one of its calls. The
// functions With… return them; the parameters of a tool that requires no argument
// are one as well.
type CallOption interface {
	// ApplyTo changes the settings. It is called once for each call, or once for
	// all calls of a client that has the option, and must not keep s.
	ApplyTo(s *CallSettings)
}

// CallSettings are the combined options of a call.
type CallSettings struct {
	CallOptions
	// Arguments are the tool's parameters, where they were passed as an option.
	Arguments any
	// NoValidation sends arguments unchecked.
	NoValidation bool
	// Drift decides about a call whose tool is not the one that the client was
	// generated from. OnDrift, unless nil, is called first.
	Drift   DriftPolicy
	OnDrift func(*DriftError)
}

type optionFunc func(*CallSettings)

func (f optionFunc) ApplyTo(s *CallSettings) { f(s) }

// WithProgress passes each progress message of a call to fn; see
// [CallOptions.Progress].
func WithProgress(fn func(Progress)) CallOption {
	return optionFunc(func(s *CallSettings) { s.Progress = fn })
}

// WithTimeout sets how long a call may go without an answer or a progress
// message; see [CallOptions.Timeout].
func WithTimeout(d time.Duration) CallOption {
	return optionFunc(func(s *CallSettings) { s.Timeout = d })
}

// WithMeta adds one member to the request's _meta object. Of two with one key
// the last wins.
func WithMeta(key string, value json.RawMessage) CallOption {
	return optionFunc(func(s *CallSettings) {
		meta := make(map[string]json.RawMessage, len(s.Meta)+1) // a client's own is shared by its calls
		maps.Copy(meta, s.Meta)
		meta[key] = value
		s.Meta = meta
	})
}

// WithValidation sets whether arguments are checked against the tool's input
// schema before anything is sent, which is the default. A failure is a
// [*FieldError].
func WithValidation(on bool) CallOption {
	return optionFunc(func(s *CallSettings) { s.NoValidation = !on })
}

// WithDrift sets the policy for calls to a tool that has changed since the client
// was generated; see [DriftPolicy]. Report, which may be nil, is called before each
// such call, possibly concurrently.
//
// Unless the policy is [DriftIgnore], the server's tools are listed once, at the
// first call; concurrent calls wait for it. They are listed again after a failure,
// and after notifications/tools/list_changed (see Listen of dial.Options).
func WithDrift(p DriftPolicy, report func(*DriftError)) CallOption {
	return optionFunc(func(s *CallSettings) { s.Drift, s.OnDrift = p, report })
}
