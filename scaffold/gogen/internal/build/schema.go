package build

import (
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// schema is one JSON schema with the spellings of all drafts made one: "const"
// is an enum, an array of "items" is prefix, "nullable" is orNull. A nil *schema
// is a keyword that is not there and allows everything.
type schema struct {
	// pointer is the place in the document, such as "/properties/a"; that of a
	// schema made by merging tells what it was made of. It is unique.
	pointer string
	base    string // URI that references resolve against

	// never is false, or a schema that contradicts itself.
	never bool
	// lost tells why rules are unknown: a reference that leads nowhere, a type
	// that does not exist. They cannot be checked either.
	lost string
	// orNull allows null whatever the rest says (OpenAPI's "nullable").
	orNull bool

	ref string
	// dynamic is a reference that is found while a value is checked.
	dynamic string
	allOf   []*schema
	unions  []union

	types      []string // sorted; nil allows all
	enum       []any    // with hasEnum; null among them
	hasEnum    bool
	isConst    bool              // the enum is spelled as "const"
	valueDocs  map[string]string // what enum values mean, by JSON text
	properties map[string]*schema
	patterns   map[string]*schema
	additional *schema
	required   map[string]bool
	prefix     []*schema
	items      *schema // of the items behind prefix
	rules      model.Rules
	// closesRest is unevaluatedProperties: false; opensRest is true for it or for
	// additionalProperties, which leaves nothing unevaluated.
	closesRest, opensRest bool
	// extra are the keywords that no type and no rule holds.
	extra map[string]bool

	title, description string
	dflt               any
	hasDefault         bool
	format, encoding   string

	flat       *schema
	flattening bool
	null       answer
	kindsOf    kindSet
	kindsState state
}

// union is one anyOf or oneOf.
type union struct {
	arms      []*schema
	exclusive bool   // oneOf
	member    string // the discriminator that is given; "" is none
}

func (u union) keyword() string {
	if u.exclusive {
		return "oneOf"
	}
	return "anyOf"
}

// state of something worked out once.
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

// free reports whether a schema that is flat allows everything.
func (s *schema) free() bool {
	return s == nil || !s.never && s.ref == "" && len(s.allOf) == 0 && len(s.unions) == 0 && s.types == nil && !s.hasEnum &&
		len(s.properties) == 0 && len(s.patterns) == 0 && s.additional == nil && len(s.required) == 0 &&
		len(s.prefix) == 0 && s.items == nil && len(s.extra) == 0 && s.lost == "" && !hasRules(&s.rules)
}

func hasRules(r *model.Rules) bool {
	return len(relevant(r, kindString)) > 0 || len(relevant(r, kindNumber)) > 0 || len(relevant(r, kindArray)) > 0 || len(relevant(r, kindObject)) > 0
}

// relevant names the rules that say something about values of a kind.
func relevant(r *model.Rules, k kindSet) []string {
	var out []string
	say := func(has bool, keyword string) {
		if has {
			out = append(out, keyword)
		}
	}
	switch k {
	case kindString:
		say(r.MinLength != nil, "minLength")
		say(r.MaxLength != nil, "maxLength")
		say(len(r.Patterns) > 0, "pattern")
	case kindNumber:
		say(r.Minimum != "", "minimum")
		say(r.Maximum != "", "maximum")
		say(r.ExclusiveMinimum != "", "exclusiveMinimum")
		say(r.ExclusiveMaximum != "", "exclusiveMaximum")
		say(r.MultipleOf != "", "multipleOf")
	case kindArray:
		say(r.MinItems != nil, "minItems")
		say(r.MaxItems != nil, "maxItems")
		say(r.UniqueItems, "uniqueItems")
	case kindObject:
		say(r.MinProperties != nil, "minProperties")
		say(r.MaxProperties != nil, "maxProperties")
	default: // no rule is about booleans
	}
	return out
}
