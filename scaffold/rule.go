package scaffold

// Rule names what a warning or a refusal is about, for tools that show where in a document
// it comes from.
type Rule string

// The rules about a record.
const (
	RuleNothingToRun   Rule = "nothing-to-run"
	RuleNUL            Rule = "nul"
	RuleTooMany        Rule = "too-many"
	RuleIdentifier     Rule = "identifier"
	RuleBundle         Rule = "bundle"
	RulePackageVersion Rule = "package-version"
	RuleUnpinned       Rule = "unpinned"
	RuleImageVersion   Rule = "image-version"
	RuleCargoName      Rule = "cargo-name"
	RuleBaseURL        Rule = "registry-base-url"
	RuleRuntimeHint    Rule = "runtime-hint"
	RuleDropped        Rule = "dropped-arguments"
	RuleRunnerOption   Rule = "runner-option"
	RuleRunnerEffect   Rule = "runner-effect"
	RuleArgument       Rule = "empty-argument"
	RuleTemplateName   Rule = "template-in-name"
	RuleSecretArgument Rule = "secret-argument"
	RuleEnvName        Rule = "env-name"
	RuleEnvFamily      Rule = "env-dangerous"
	RuleDuplicate      Rule = "duplicate"
	RuleHeaderName     Rule = "header-name"
	RuleHeaderReserved Rule = "header-reserved"
	RuleHeaderValue    Rule = "header-value"
	RuleURL            Rule = "url"
	RuleHTTP           Rule = "http"
	RuleAddress        Rule = "address"
	RuleURLPlaceholder Rule = "url-placeholder"
	RuleUndeclared     Rule = "undeclared-variable"
	RuleDollar         Rule = "dollar"
	RuleDefault        Rule = "bad-default"
	// RuleGiven is about the user's own values.
	RuleGiven Rule = "given"
)

// Finding is a warning or a reason for a refusal.
type Finding struct {
	Rule Rule
	Text string
	// Refused is set for a reason to refuse the record, Force where --force overrides it.
	Refused, Force bool
}
