package drift

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
		{ruleRemoved, true, true, "nothing is left to call"},
		{ruleAdded, false, false, "it is not called yet"},
		{ruleRequiredAdded, true, false, "calls lack it; results keep unknown members"},
		{ruleOptionalAdded, false, false, "calls leave it out; results keep unknown members"},
		{ruleRequiredRemoved, false, true, "an open object takes it; a result without it is incomplete"},
		{ruleOptionalRemoved, false, false, "an open object takes it; results may always have lacked it"},
		{ruleMemberRefused, true, false, "the object is closed: calls that have it are refused"},
		{ruleNowRequired, true, false, "calls without it are refused"},
		{ruleNowOptional, false, true, "calls may send it; a result without it is incomplete"},
		{ruleNullAllowed, false, true, "a result may have null where a value is expected"},
		{ruleNullIgnored, false, false, "for an optional member of a result, null is absence"},
		{ruleNullRefused, true, false, "calls that send null are refused"},
		{ruleTypeChanged, true, true, "old values are refused, new ones not understood"},
		{ruleTypeWidened, false, true, "old values are taken; new ones are not understood"},
		{ruleTypeNarrowed, true, false, "some old values are refused"},
		{ruleValueAdded, false, false, "calls need not send it; results keep unknown values"},
		{ruleValueRemoved, true, false, "calls that send it are refused"},
		{ruleConstChanged, true, true, "the old value is refused, the new one not expected"},
		{ruleArmAdded, false, false, "calls need not use it; results keep unknown alternatives"},
		{ruleArmRemoved, true, false, "calls that use it are refused"},
		{ruleClosed, true, false, "calls with members that are not named are refused"},
		{ruleOpened, false, false, "calls need not send more; results keep unknown members"},
		{ruleTightened, true, false, "some allowed values are refused"},
		{ruleLoosened, false, false, "results are not checked as they are read"},
		{ruleReplaced, true, false, "allowed values may be refused; results are not checked as they are read"},
		{ruleOutputAdded, false, false, "the content of the result stays"},
		{ruleOutputRemoved, true, true, "a result has no structured content"},
		{ruleTask, true, true, "the tool can only be called as a task"},
		{ruleHints, false, false, "claims of the server; more dangerous ones are pointed out"},
		{ruleDefault, false, false, "calls without the member mean another value"},
		{ruleNote, false, false, "describes values and forbids none, such as format, deprecated and media types"},
		{ruleProse, false, false, "titles, descriptions, comments and examples"},
		{ruleServer, false, false, "version or protocol; what matters shows in the rest"},
		{ruleGo, false, false, "only the Go package changes, because of other changes"},
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
