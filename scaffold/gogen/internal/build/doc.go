// Package build makes the model of a generated package from a server's lists of
// tools, prompts and resources.
//
// Each schema is read once, with the spellings of all drafts unified (parse.go).
// Where its type is made, references and allOf are merged into it (refs.go,
// flatten.go, merge.go), null is removed (nullable.go), and the kinds of JSON
// values that are left (kinds.go) decide the form: a scalar, a list or tuple, a
// map or struct, a union.
//
// A type is never narrower than its schema. Keywords that neither a type nor a
// rule holds exactly put the whole schema into the top declaration, which then
// is validated as a whole:
//
//   - not, if/then/else, contains, propertyNames, dependentRequired,
//     dependentSchemas, dependencies, unevaluatedItems, unevaluatedProperties
//     beside anything but allOf, $dynamicRef, $recursiveRef: no type expresses it;
//   - anyOf and oneOf of types that a value alone does not choose between;
//   - patternProperties, except one that every name matches;
//   - patterns without an equal in Go's syntax;
//   - rules without a type they apply to, enums beside other rules, and schemas
//     that allow nothing, or only null;
//   - allOf where the merge of its arms is wider than they are.
//
// Nothing is guessed: a place that cannot be typed is raw JSON, with the reason.
package build
