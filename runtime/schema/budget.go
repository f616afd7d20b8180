package schema

import "github.com/santhosh-tekuri/jsonschema/v6"

// maxSteps bounds the subschemas that one validation looks at. A schema of ten
// lines whose branches refer to one another twice each would otherwise keep
// the validator busy for years.
const maxSteps = 2_000_000

// exhausted ends a validation that has used up its budget. It is a panic value
// because the validator offers no other way out, and never leaves the package.
type exhausted struct{}

// budget counts the steps of one validation.
type budget struct {
	steps int
}

func (b *budget) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "mcpctl:budget",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return b, nil
		},
	}
}

// Validate takes a step and checks nothing.
func (b *budget) Validate(*jsonschema.ValidatorContext, any) {
	if b.steps++; b.steps > maxSteps {
		panic(exhausted{})
	}
}
