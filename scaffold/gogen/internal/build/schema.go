package build

import (
	"cmp"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// schema is one JSON schema with the spellings of all drafts unified: "const" is
// an enum, an array of "items" is prefix, "nullable" is orNull. A nil *schema is
// a missing keyword and allows everything.
type schema struct {
	// pointer is the place in the document, such as "/properties/a", or names the
	// parts of a merged schema. It is unique.
	pointer string
	base    string // URI that references resolve against

	// never is false, or a schema that contradicts itself.
	never bool
	// fault is why rules are unknown: a reference that leads nowhere, a type that
	// does not exist. They cannot be checked either.
	fault string

	ref string
	// dynamic is a reference that is resolved while a value is checked.
	dynamic string
	allOf   []*schema
	unions  []union
	valueKeywords
	objectKeywords
	arrayKeywords
	rules model.Rules
	// extra are the keywords that neither type nor rule expresses.
	extra map[string]bool
	annotations
	memo
}

// valueKeywords are about the values of every kind.
type valueKeywords struct {
	types     []string // sorted; nil allows all
	enum      []any    // with hasEnum; null among them
	hasEnum   bool
	isConst   bool              // the enum is spelled as "const"
	valueDocs map[string]string // what enum values mean, by JSON text
	orNull    bool              // null is allowed whatever the rest says (OpenAPI's "nullable")
}

type objectKeywords struct {
	properties map[string]*schema
	patterns   map[string]*schema
	additional *schema
	required   map[string]bool
	// closesRest is unevaluatedProperties: false; opensRest is true for it or for
	// additionalProperties, which leaves nothing unevaluated.
	closesRest, opensRest bool
}

type arrayKeywords struct {
	prefix []*schema
	items  *schema // of the items behind prefix
}

type annotations struct {
	title, description string
	dflt               any
	hasDefault         bool
	format, encoding   string
}

// or returns the annotations, missing ones taken from b.
func (a annotations) or(b annotations) annotations {
	if !a.hasDefault {
		a.dflt, a.hasDefault = b.dflt, b.hasDefault
	}
	a.title, a.description = cmp.Or(a.title, b.title), cmp.Or(a.description, b.description)
	a.format, a.encoding = cmp.Or(a.format, b.format), cmp.Or(a.encoding, b.encoding)
	return a
}

// doc returns a schema's own text.
func (a annotations) doc() []string {
	if text := cmp.Or(a.description, a.title); text != "" {
		return []string{text}
	}
	return nil
}

// memo is what has been computed about a schema.
type memo struct {
	flat       *schema
	flattening bool
	null       answer
	kindsOf    kindSet
	kindsState state
}

// setFlat marks a schema, usually a modified copy, as flat.
func (s *schema) setFlat() { s.memo = memo{flat: s} }

// union is one anyOf or oneOf.
type union struct {
	arms      []*schema
	exclusive bool   // oneOf
	member    string // the declared discriminator; "" is none
}

func (u union) keyword() string {
	if u.exclusive {
		return "oneOf"
	}
	return "anyOf"
}

// state of something computed once.
type state uint8

const (
	unknown state = iota
	working
	known
)

type answer struct {
	state state
	yes   bool
}

// allowsAll reports whether a schema that is flat allows everything.
func (s *schema) allowsAll() bool {
	return s == nil || !s.never && s.ref == "" && len(s.allOf) == 0 && len(s.unions) == 0 && s.types == nil && !s.hasEnum &&
		len(s.properties) == 0 && len(s.patterns) == 0 && s.additional == nil && len(s.required) == 0 &&
		len(s.prefix) == 0 && s.items == nil && len(s.extra) == 0 && s.fault == "" && !s.rules.Any()
}

// relevant returns the rules that are about values of a kind.
func relevant(r *model.Rules, k kindSet) []string {
	var out []string
	for _, rule := range []struct {
		of      kindSet
		present bool
		keyword string
	}{
		{kindString, r.MinLength != nil, "minLength"},
		{kindString, r.MaxLength != nil, "maxLength"},
		{kindString, len(r.Patterns) > 0, "pattern"},
		{kindNumber, r.Minimum != "", "minimum"},
		{kindNumber, r.Maximum != "", "maximum"},
		{kindNumber, r.ExclusiveMinimum != "", "exclusiveMinimum"},
		{kindNumber, r.ExclusiveMaximum != "", "exclusiveMaximum"},
		{kindNumber, r.MultipleOf != "", "multipleOf"},
		{kindArray, r.MinItems != nil, "minItems"},
		{kindArray, r.MaxItems != nil, "maxItems"},
		{kindArray, r.UniqueItems, "uniqueItems"},
		{kindObject, r.MinProperties != nil, "minProperties"},
		{kindObject, r.MaxProperties != nil, "maxProperties"},
	} {
		if rule.present && rule.of&k != 0 {
			out = append(out, rule.keyword)
		}
	}
	return out
}
