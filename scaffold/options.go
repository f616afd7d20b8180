package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
)

// runner is a program that fetches and starts a package, with the options that
// a record may set on its command line. Everything else needs --force.
type runner struct {
	command []string
	// options are all that a record may set. One that is not among them is
	// refused whether it takes a value or not, so the words behind it are never
	// read as something that they are not.
	options []option
	// clusters is set where several one-letter options may share a dash, and the
	// last of them its word with a value: -iv /a:/b, -eA=1.
	clusters bool
	// does is what refused options would do.
	does map[string]string
}

// option is one option that a record may set.
type option struct {
	// names are its spellings with their dashes.
	names []string
	// check returns what is wrong with a value, "" for nothing. It is nil for an
	// option without a value. A value of the user's is replaced by one NUL.
	check func(b *builder, val string) string
}

func flag(names ...string) option { return option{names: names} }

// matching allows the values that match a pattern as a whole; a part of the
// user's counts as a digit.
func matching(pattern string, names ...string) option {
	return option{names: names, check: func(_ *builder, val string) string {
		if matches(pattern, strings.ReplaceAll(val, userPart, "0")) {
			return ""
		}
		return fmt.Sprintf("%q is not a value that a record may set", display(val))
	}}
}

// oneOf allows a few words.
func oneOf(words string, names ...string) option { return matching("("+words+")", names...) }

// withWarning is matching with a warning that the value completes.
func withWarning(warning, pattern string, names ...string) option {
	o := matching(pattern, names...)
	check := o.check
	o.check = func(b *builder, val string) string {
		reason := check(b, val)
		if reason == "" {
			b.warn(RuleRunnerEffect, fmt.Sprintf(warning, display(val)))
		}
		return reason
	}
	return o
}

// userOnly allows values of the user's only.
func userOnly(names ...string) option {
	return option{names: names, check: func(_ *builder, val string) string {
		return fmt.Sprintf("%q is for the user to give, not for a record", display(val))
	}}
}

func matches(pattern, s string) bool {
	return regexp.MustCompile(`(?s)\A(?:` + pattern + `)\z`).MatchString(s)
}

// display returns a text with an ellipsis for what is the user's, cut where it
// is long.
func display(s string) string {
	const longest = 200
	if s = strings.ReplaceAll(s, userPart, "…"); len(s) > longest {
		s = s[:longest] + "…"
	}
	return s
}

// runners returns the programs that may run a type, by runtimeHint; "" is the
// usual one. Any other hint is ignored, never run.
func runners(kind string) map[string]*runner {
	switch kind {
	case "npm":
		return map[string]*runner{"": npx(), "npx": npx(), "bunx": bunx(), "pnpm": pnpm(), "yarn": yarn()}
	case "pypi":
		return map[string]*runner{"": uvx(), "uvx": uvx()}
	case "oci":
		return map[string]*runner{"": docker("docker"), "docker": docker("docker"), "podman": docker("podman"), "nerdctl": docker("nerdctl")}
	case "nuget":
		return map[string]*runner{"": dnx(), "dnx": dnx()}
	}
	return map[string]*runner{"": {}}
}

// checkOptions refuses words between a runner and the package that are not among
// the runner's options: another option, a value that an option may not have, and
// a word that would run instead of the package.
func (b *builder) checkOptions(r *runner, tokens []token) {
	for len(tokens) > 0 {
		used, name, reason := b.checkOption(r, tokens)
		if reason != "" {
			b.danger(RuleRunnerOption, strings.TrimSpace(r.command[0]+" "+shortName(name))+": "+reason)
		}
		tokens = tokens[used:]
	}
}

// shortName returns the name of an option for a message of one line.
func shortName(s string) string {
	const longest = 60
	if s = display(s); len(s) > longest {
		s = s[:longest] + "…"
	}
	if !matches(`[!-~…]*`, s) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// checkOption checks the first option of a command line and returns the number
// of its words.
func (b *builder) checkOption(r *runner, tokens []token) (used int, name, reason string) {
	word := tokens[0].shape
	switch {
	case tokens[0].user && word == userPart && strings.HasPrefix(tokens[0].plain, "-"):
		return 1, "", "" // an option of the user's own
	case !strings.HasPrefix(word, "-") || word == "-" || word == "--":
		return 1, "", fmt.Sprintf("%q is before the package and would run instead of it", display(word))
	}
	o, name, val, joined := r.find(word)
	switch {
	case o == nil:
		if reason = r.does[name]; reason == "" {
			reason = "not among the options that a record may set"
		}
		if !joined && len(tokens) > 1 && !strings.HasPrefix(tokens[1].shape, "-") {
			return 2, name, reason // probably its value, which does not matter any more
		}
		return 1, name, reason
	case o.check == nil && joined && !(r.clusters && matches("true|false", val)):
		// npx makes --loglevel, warn and true of --quiet=true, and runs true.
		return 1, name, fmt.Sprintf("takes no value such as %q", display(val))
	case o.check == nil:
		return 1, name, ""
	case joined:
		used = 1
	case len(tokens) == 1 || strings.HasPrefix(tokens[1].shape, "-"):
		return 1, name, "has no value, and would take the next word for one"
	default:
		used, val = 2, tokens[1].shape
	}
	if val == userPart {
		return used, name, ""
	}
	return used, name, o.check(b, val)
}

// find splits a word that begins with a dash: its option, nil for none of the
// runner's, the name as written, and a value that is joined to it.
func (r *runner) find(word string) (o *option, name, val string, joined bool) {
	name, val, joined = strings.Cut(word, "=")
	if o = r.option(name); o != nil || !r.clusters || strings.HasPrefix(word, "--") {
		return o, name, val, joined
	}
	for rest := word[1:]; rest != ""; {
		name, rest = "-"+rest[:1], rest[1:]
		if o = r.option(name); o == nil || o.check != nil || rest == "" {
			return o, name, strings.TrimPrefix(rest, "="), rest != ""
		}
	}
	return nil, word, "", false
}

func (r *runner) option(name string) *option {
	for i := range r.options {
		if slices.Contains(r.options[i].names, name) {
			return &r.options[i]
		}
	}
	return nil
}

// ownPackage allows a package option that names the record's own package, as
// npx --package and uvx --from may.
func ownPackage(names ...string) option {
	return option{names: names, check: func(b *builder, val string) string {
		if !samePackage(b.pkg, val) {
			return fmt.Sprintf("installs %q, which is not the record's package", display(val))
		}
		own := registry.Package{RegistryType: b.pkg.RegistryType, Identifier: val}
		return identifierFault(&own)
	}}
}
