package drift

import (
	"fmt"
	"strings"
)

// Rule is a row of the table that classifies changes.
type Rule struct {
	ID string
	// Input and Output are whether a program built from the old code can fail where
	// the change is in what it sends (arguments of tools and prompts) or in what it
	// receives. They are equal for changes without a direction.
	Input, Output bool
	Why           string
}

// The rules' identifiers, in the order of the table.
const (
	ruleRemoved         = "removed"
	ruleAdded           = "added"
	ruleRequiredAdded   = "required-member-added"
	ruleOptionalAdded   = "optional-member-added"
	ruleRequiredRemoved = "required-member-removed"
	ruleOptionalRemoved = "optional-member-removed"
	ruleMemberRefused   = "member-refused"
	ruleNowRequired     = "now-required"
	ruleNowOptional     = "now-optional"
	ruleNullAllowed     = "null-allowed"
	ruleNullIgnored     = "null-allowed-optional"
	ruleNullRefused     = "null-refused"
	ruleTypeChanged     = "type-changed"
	ruleTypeWidened     = "type-widened"
	ruleTypeNarrowed    = "type-narrowed"
	ruleValueAdded      = "value-added"
	ruleValueRemoved    = "value-removed"
	ruleConstChanged    = "constant-changed"
	ruleArmAdded        = "alternative-added"
	ruleArmRemoved      = "alternative-removed"
	ruleClosed          = "members-closed"
	ruleOpened          = "members-opened"
	ruleTightened       = "rule-tightened"
	ruleLoosened        = "rule-loosened"
	ruleReplaced        = "rule-replaced"
	ruleOutputAdded     = "output-schema-added"
	ruleOutputRemoved   = "output-schema-removed"
	ruleTask            = "task-required"
	ruleHints           = "hints"
	ruleDefault         = "default"
	ruleNote            = "annotation"
	ruleProse           = "prose"
	ruleServer          = "server"
	ruleGo              = "go"
)

// Rules returns the whole table. Whether code compiles is not in it: that is
// found by comparing generated code.
//
// The rules differ for what is sent and what is received: a client sends what
// the old schema allows, so the new one must allow no less; a server sends what
// the new schema allows, so the old one must have allowed no less. But types of
// results are lenient: they keep unknown members, values of enums and arms of
// unions, and check bounds only on request.
func Rules() []Rule {
	return []Rule{
		{ruleRemoved, true, true, "a tool, prompt, resource or template that is gone cannot be called"},
		{ruleAdded, false, false, "what is new is not called yet"},
		{ruleRequiredAdded, true, false, "calls lack it and are refused; results keep it among the members they do not know"},
		{ruleOptionalAdded, false, false, "calls leave it out; results keep it among the members they do not know"},
		{ruleRequiredRemoved, false, true, "an open object takes it as before; a result without it is incomplete"},
		{ruleOptionalRemoved, false, false, "an open object takes it as before; a result may always have been without it"},
		{ruleMemberRefused, true, false, "the object is closed: a call that has the member is refused"},
		{ruleNowRequired, true, false, "calls without it are refused; results only have it more often"},
		{ruleNowOptional, false, true, "calls may still send it; a result without it is incomplete"},
		{ruleNullAllowed, false, true, "calls need not send null; a result may have null where a value is expected"},
		{ruleNullIgnored, false, false, "calls need not send null; for an optional member of a result, null is absence"},
		{ruleNullRefused, true, false, "calls that send null are refused; results no longer have it"},
		{ruleTypeChanged, true, true, "values of the old type are refused, those of the new type not understood"},
		{ruleTypeWidened, false, true, "values of the old type are still taken; those of the new type are not understood"},
		{ruleTypeNarrowed, true, false, "some values of the old type are refused; results stay within the old type"},
		{ruleValueAdded, false, false, "calls need not send the value; results keep values they do not know"},
		{ruleValueRemoved, true, false, "calls that send the value are refused; results no longer have it"},
		{ruleConstChanged, true, true, "calls send the old value and are refused; results have a value that is not expected"},
		{ruleArmAdded, false, false, "calls need not use the alternative; results keep alternatives they do not know"},
		{ruleArmRemoved, true, false, "calls that use the alternative are refused; results no longer use it"},
		{ruleClosed, true, false, "calls with members that the schema does not name are refused; results no longer have any"},
		{ruleOpened, false, false, "calls need not send more members; results keep those they do not know"},
		{ruleTightened, true, false, "values that were allowed are refused; results meet more rules than before"},
		{ruleLoosened, false, false, "calls work as before; results are not checked as they are read"},
		{ruleReplaced, true, false, "values that were allowed may be refused; results are not checked as they are read"},
		{ruleOutputAdded, false, false, "a program that reads the content of the result still finds it there"},
		{ruleOutputRemoved, true, true, "a result has no structured content to read"},
		{ruleTask, true, true, "a plain call is refused: the tool can only be called as a task"},
		{ruleHints, false, false, "claims about what the tool does; more dangerous ones are pointed out"},
		{ruleDefault, false, false, "calls that leave the member out now mean another value"},
		{ruleNote, false, false, "describes values and forbids none: format, deprecated, media types, keywords outside JSON Schema"},
		{ruleProse, false, false, "titles, descriptions, comments and examples are for readers"},
		{ruleServer, false, false, "the server's version or protocol: what matters shows in the rest"},
		{ruleGo, false, false, "only the Go package changes, as a consequence of other changes"},
	}
}

func ruleOf(id string) Rule {
	for _, r := range Rules() {
		if r.ID == id {
			return r
		}
	}
	panic("drift: no rule " + id)
}

// Table returns [Rules] in Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("| rule | in arguments | in results | because |\n|---|---|---|---|\n")
	word := func(breaks bool) string {
		if breaks {
			return "wire-breaking"
		}
		return "–"
	}
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.ID, word(r.Input), word(r.Output), r.Why)
	}
	return b.String()
}
