package authorize

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// Denied is a request that policies refuse.
type Denied struct {
	*access.Denied
	// member is what Item is called in the data of the error: tool, prompt or uri.
	member string
	// Record is the name of the record of it, "" for none.
	Record string
}

func (e *Denied) Unwrap() error { return e.Denied }

// Named returns an error with what an item of a kind is called, where it is a denial;
// inventory.Kinds for none.
func Named(err error, k inventory.Kind) error {
	if d, ok := errors.AsType[*access.Denied](err); ok {
		return &Denied{Denied: d, member: [inventory.Kinds + 1]string{"tool", "prompt", "uri", "uri", ""}[k]}
	}
	return err
}

// Data describes the denial for programs: {"kind","policy" or "hook","server","tool" or
// "prompt" or "uri","retryAfter","scopes","url","record"}, with seconds.
func (e *Denied) Data() []byte {
	f := map[string]any{"kind": e.ErrorKind()}
	source, id := "policy", e.Policy
	if hook, ok := strings.CutPrefix(id, ofHook); ok {
		source, id = "hook", hook
	}
	for name, text := range map[string]string{source: id, "server": e.Server, e.member: e.Item, "record": e.Record} {
		if name != "" && text != "" {
			f[name] = text
		}
	}
	if e.RetryAfter > 0 {
		f["retryAfter"] = int64((e.RetryAfter + time.Second - 1) / time.Second)
	}
	if e.Scopes != nil {
		f["scopes"] = e.Scopes
	}
	if e.URL != "" {
		f["url"] = e.URL
	}
	raw, _ := json.Marshal(f) // it always has a JSON form
	return raw
}

// ScopesIn returns the scopes that the framed error of a Denied says the credential would
// need.
func ScopesIn(frame []byte) []string {
	var m struct {
		Error struct {
			Data struct{ Scopes []string }
		}
	}
	_ = json.Unmarshal(frame, &m) // it is our own
	return m.Error.Data.Scopes
}
