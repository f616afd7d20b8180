package lint

import (
	"slices"

	"github.com/mcpctl/mcpctl/scaffold"
)

// Severity says how bad a finding is.
type Severity string

// The severities. An error is something that a registry or mcpctl add refuses.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Rule is one thing that is looked at.
type Rule struct {
	// Number is such as L101. It never changes its meaning.
	Number string `json:"number"`
	Name   string `json:"name"`
	// Severity is that of a finding, unless add refuses the record for it.
	Severity Severity `json:"severity"`
	// About says what goes wrong, Fix what to write instead.
	About string `json:"about"`
	Fix   string `json:"fix"`
}

// Rules returns all rules, by number.
func Rules() []Rule {
	return []Rule{
		{"L101", "syntax", Error, "The document is not JSON. Comments and trailing commas are not JSON either.", "write plain JSON"},
		{"L102", "duplicate-member", Error, "An object has a member twice, and programs disagree on which counts.", "keep one of them"},
		{"L103", "kind", Error, "A value has the wrong type, and is ignored or read in another way.", "write the type that the format wants"},
		{"L104", "unknown-member", Warning, "The format has no such member, so nobody reads it.", "remove it or correct its name"},
		{"L105", "old-spelling", Warning, "The member has the spelling of 2025-07 (snake_case). The registry refuses it.", "write it in camelCase"},
		{"L106", "schema", Warning, "$schema is missing or is not the newest version of the format.", "name the newest schema, " + newestSchema},
		{"L111", "name", Error, "The name is not of the form NAMESPACE/NAME.", "write a name such as io.github.user/server"},
		{"L112", "version", Error, "The version is missing, is \"latest\", or is a range.", "write an exact version such as 1.0.0"},
		{"L113", "version-order", Warning, "The version is not semantic, so it counts as older than every version that is.", "write a version such as 1.0.0"},
		{"L114", "description", Error, "The description is missing, or longer than 100 characters.", "write 1 to 100 characters"},
		{"L115", "title", Error, "The title is longer than 100 characters.", "write 1 to 100 characters"},
		{"L116", "website", Error, "The address of the website, the repository or an icon is not https, or not at the host that source names.", "write an address with https://"},
		{"L121", string(scaffold.RuleNothingToRun), Error, "There is no package and no remote that mcpctl can use.", "add a package of npm, pypi, oci, nuget or cargo, or a remote"},
		{"L122", "package-type", Warning, "mcpctl and other clients cannot run a package of this type.", "also offer a package of npm, pypi, oci or nuget"},
		{"L123", string(scaffold.RuleIdentifier), Error, "The identifier is not the name of a package in its registry.", "write the package's name and nothing else"},
		{"L124", string(scaffold.RulePackageVersion), Error, "The package's version is not exact.", "write an exact version"},
		{"L125", string(scaffold.RuleUnpinned), Warning, "The package or image has no version, so users get another one every day.", "name an exact version, and of an image a tag or digest"},
		{"L126", string(scaffold.RuleImageVersion), Warning, "The package's version and the tag of its image differ.", "leave version out and name the tag in identifier"},
		{"L127", string(scaffold.RuleCargoName), Error, "The program of a cargo package is started by its name, which has no word mcp in it.", "give the crate a name such as thing-mcp"},
		{"L128", string(scaffold.RuleBaseURL), Warning, "registryBaseUrl is not an address, or names another package registry.", "leave it out if the package is in the public registry"},
		{"L129", "file-hash", Error, "A bundle (mcpb) has no SHA-256 of its file.", "write 64 hexadecimal digits in fileSha256"},
		{"L130", "transport", Error, "The transport is missing or unknown, or lacks its url.", "write stdio, streamable-http or sse, the last two with a url"},
		{"L131", string(scaffold.RuleRuntimeHint), Warning, "runtimeHint is no runner of this type of package, so it is ignored.", "write npx, uvx, docker or dnx, or leave it out"},
		{"L132", string(scaffold.RuleDropped), Warning, "runtimeArguments belong to a runner that is not used, so they are dropped.", "remove them, or correct runtimeHint"},
		{"L133", string(scaffold.RuleRunnerOption), Error, "A runtime argument would give the server more of the user's machine than a record may ask for.", "remove it; users can add it themselves"},
		{"L134", string(scaffold.RuleRunnerEffect), Warning, "A runtime argument reaches something on the user's machine.", "remove it if the server works without"},
		{"L135", "repeated-operand", Warning, "runtimeArguments repeat what every client writes: the package, run, -i, --rm or -y.", "leave it out"},
		{"L141", string(scaffold.RuleArgument), Error, "An argument has neither a value nor a name or hint.", "write value, or valueHint for a value of the user's"},
		{"L142", string(scaffold.RuleTemplateName), Warning, "{x} in the name of an argument is not replaced.", "put it in value"},
		{"L143", "joined-argument", Warning, "The name of an argument has white space. It is one word of the command line.", "write the name in name and the value in value"},
		{"L144", "repeated-name", Error, "The value of a named argument begins with its name, so the name is there twice.", "write only the value"},
		{"L145", string(scaffold.RuleSecretArgument), Warning, "A secret is on the command line, where other users of the machine can see it.", "pass it as an environment variable"},
		{"L151", string(scaffold.RuleEnvName), Error, "A variable's name is not one.", "use letters, digits and _, and no digit first"},
		{"L152", string(scaffold.RuleEnvFamily), Error, "A record may not set this variable: it decides what other programs load, run or reach.", "leave it to the user, without value and default"},
		{"L153", string(scaffold.RuleDuplicate), Warning, "A variable or a header is there twice; the first counts.", "keep one of them"},
		{"L154", "secret-default", Warning, "The default of a secret is never used.", "write an example in placeholder"},
		{"L155", "secret-mark", Warning, "The name is that of a secret, and isSecret is not set, so clients show and store it.", "write \"isSecret\": true"},
		{"L156", "example-default", Warning, "The default looks like an example. A default is used as it is.", "write it in placeholder"},
		{"L157", string(scaffold.RuleDefault), Warning, "The default is not one of the choices, or not of its format.", "write a default that is valid"},
		{"L161", string(scaffold.RuleUndeclared), Warning, "{x} is declared nowhere, so it stays text. In a URL, nobody can reach it.", "declare x in variables"},
		{"L162", string(scaffold.RuleDollar), Warning, "${x} is text: clients do not replace it by a variable of the environment.", "write {x} and declare x in variables"},
		{"L163", "unused-variable", Warning, "A variable is declared and not used.", "write {x} where its value belongs, or remove it"},
		{"L171", "remote-type", Error, "The type of a remote is unknown.", "write streamable-http or sse"},
		{"L172", string(scaffold.RuleURL), Error, "The address is not that of a server.", "write https://HOST/PATH"},
		{"L173", string(scaffold.RuleHTTP), Warning, "The address is http, or on the author's own machine.", "write https and a public host"},
		{"L174", string(scaffold.RuleAddress), Error, "The address leads elsewhere than it seems to.", "write a plain host name"},
		{"L175", string(scaffold.RuleURLPlaceholder), Warning, "The address begins with a variable, so it can be any.", "write the scheme and the host"},
		{"L176", string(scaffold.RuleHeaderName), Error, "A header's name is not one.", "use letters, digits and -"},
		{"L177", string(scaffold.RuleHeaderReserved), Warning, "The header is written by the client.", "remove it"},
		{"L178", string(scaffold.RuleHeaderValue), Error, "The value of a header has a line break.", "write it in one line"},
		{"L179", string(scaffold.RuleNUL), Error, "A text has a NUL character, which no argument, variable or header can hold.", "remove it"},
		{"L180", string(scaffold.RuleTooMany), Error, "The document has more than 100 packages and remotes, or more than 5,000 inputs.", "leave out what few users need"},
	}
}

// newestSchema is the newest version of the format.
const newestSchema = "2025-12-11"

// rule returns a rule by its name.
func rule(name string) Rule {
	all := Rules()
	return all[slices.IndexFunc(all, func(r Rule) bool { return r.Name == name })]
}
