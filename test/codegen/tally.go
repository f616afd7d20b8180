package main

import (
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
)

// tally counts what became of the cases of a draft.
type tally struct {
	Groups    int // of the suite
	NoCode    int // groups that the generator refuses
	NoCompile int // groups whose code does not compile
	Raw       int // groups whose member v is typed as any JSON
	Embedded  int // types that check a schema they carry

	Valid, Accepted, RoundTripped int
	Invalid, Rejected             int
	// Excepted are invalid cases of groups that are exceptions, not among
	// Invalid.
	Excepted int
}

// failure is a case that did not come out as the suite wants it.
type failure struct {
	Group  suite.Group
	Where  string // arguments, optional arguments, result
	Case   suite.Case
	Reason string
	Reply  reply
}

// String is the failure with all that is needed to look into it.
func (f failure) String() string {
	return fmt.Sprintf("%s %s: %s (%s): %s\n\tschema %s\n\tvalue  %s", f.Group.Draft, f.Group.Name(), f.Case.Description, f.Where, f.Reason, oneLine(f.Group.Schema), oneLine(f.Case.Data))
}

// count takes one reply into account and returns what is wrong with it, "" where
// nothing is.
func (t *tally) count(c suite.Case, data []byte, r reply, excepted bool) string {
	if !c.Valid {
		if excepted {
			t.Excepted++
			return ""
		}
		t.Invalid++
		if r.Missing {
			return "no type"
		}
		if r.Decode == "" && r.Validate == "" && r.Panic == "" {
			return "accepted, though invalid; written again as " + string(r.Out)
		}
		if r.Panic != "" {
			return "panic: " + r.Panic
		}
		t.Rejected++
		return ""
	}
	t.Valid++
	switch {
	case r.Missing:
		return "no type"
	case r.Panic != "":
		return "panic: " + r.Panic
	case r.Decode != "":
		return "refused when decoded: " + r.Decode
	}
	why := ""
	if r.Validate != "" {
		why = "refused by Validate: " + r.Validate
	} else {
		t.Accepted++
	}
	switch {
	case r.Encode != "":
		return "not encoded: " + r.Encode
	case !equalJSON(data, r.Out):
		return "changed: written again as " + string(r.Out)
	}
	t.RoundTripped++
	return why
}

// isRaw reports whether a Go type holds any JSON.
func isRaw(goType string) bool {
	t := strings.TrimPrefix(goType, "*")
	if inner, ok := strings.CutPrefix(t, "runtime.Opt["); ok {
		t = strings.TrimSuffix(inner, "]")
	}
	switch t {
	case "json.RawMessage", "encoding/json.RawMessage", "interface {}", "any", "jsontext.Value", "encoding/json/jsontext.Value":
		return true
	}
	return false
}

func oneLine(raw []byte) string { return strings.Join(strings.Fields(string(raw)), " ") }
