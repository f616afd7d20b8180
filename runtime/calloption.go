package runtime

import (
	"encoding/json"
	"maps"
	"time"
)

// CallOption is one setting of a generated client or of one of its calls. The
// functions With… make them; besides, the parameters of a tool that requires
// no argument are one.
type CallOption interface {
	// ApplyTo changes the settings. It is called once for each call, or once for
	// all calls where the option was given to the client, and must not keep s.
	ApplyTo(s *CallSettings)
}

// CallSettings are what the options of a call come to. The zero value is a
// call without any.
type CallSettings struct {
	CallOptions
	// Arguments are the tool's parameters, where an option has brought them.
	Arguments any
	// NoValidation sends arguments as they are, right or wrong.
	NoValidation bool
	// Drift is what becomes of a call whose tool is not the one that the client
	// was generated from. OnDrift is told of it first; nil: nobody is.
	Drift   DriftPolicy
	OnDrift func(*DriftError)
}

type optionFunc func(*CallSettings)

func (f optionFunc) ApplyTo(s *CallSettings) { f(s) }

// WithProgress hands each progress message of a call to fn; see
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
// the last holds.
func WithMeta(key string, value json.RawMessage) CallOption {
	return optionFunc(func(s *CallSettings) {
		meta := make(map[string]json.RawMessage, len(s.Meta)+1) // a client's own is shared by its calls
		maps.Copy(meta, s.Meta)
		meta[key] = value
		s.Meta = meta
	})
}

// WithValidation tells whether arguments are checked against the tool's input
// schema before anything is sent, as they are without this option. A failure
// is a [*FieldError].
func WithValidation(on bool) CallOption {
	return optionFunc(func(s *CallSettings) { s.NoValidation = !on })
}

// WithDrift says what becomes of calls to a tool that has changed since the
// client was generated; see [DriftPolicy]. Report, which may be nil, is told
// of it at each such call, before it is made; it may be called concurrently.
//
// Unless the policy is [DriftIgnore], the server's tools are listed once, at
// the first call; the calls that come meanwhile wait for it. They are listed
// again after a failure, and where the connection has heard that they changed
// (notifications/tools/list_changed; see Listen of dial.Options).
func WithDrift(p DriftPolicy, report func(*DriftError)) CallOption {
	return optionFunc(func(s *CallSettings) { s.Drift, s.OnDrift = p, report })
}
